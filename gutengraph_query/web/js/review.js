// A book's claims, one at a time beside the passage each rests on, judged from the keyboard. What is marked is on
// disk before the next one is shown.

import { get, put } from "./api.js";
import { count, failure, h, inWords, main, passageUrl, show, skeleton } from "./dom.js";
import { missedPart } from "./missed.js";
import { passageLeaf } from "./passage.js";

const KINDS = { person: "People", place: "Places", merge: "Joined names", relation: "Relations", all: "All" };
const IMPORTANCE = ["major", "intermediate", "minor"];
const VERDICTS = [["right", "Right", "y"], ["wrong", "Wrong", "n"], ["unsure", "Unsure", "u"]];
/** Who holds an arrow key down wants the passage of the claim at which it is let go, not of all on the way. */
const RESTS_MS = 60;
const KEYS = { y: "right", n: "wrong", u: "unsure" };

export async function open([id], signal) {
  try {
    const review = await get(`/books/${id}/review`, {}, signal);
    document.title = `Review · ${review.title}`;
    new Sitting(review, signal).begin();
  } catch (error) {
    if (error.name === "AbortError") return;
    const problem = error.status === 404 && error.problem.code !== "UnknownBook" ? { error: "No review is open here.", remedy: `Start one: \`gutengraph review ${id}\`.` } : error.problem;
    show(main(), h("h1", {}, "Review"), failure(problem));
  }
}

class Sitting {
  constructor(review, signal) {
    Object.assign(this, { review, signal, at: 0, spot: 0, asked: null });
    this.card = h("section", { class: "claim", "aria-live": "polite", "aria-label": "The claim" });
    this.leaf = h("article", { class: "review-leaf", "aria-label": "The passage" });
    this.tallies = h("section", { class: "tallies", "aria-label": "Precision" });
    this.said = h("p", { role: "status", class: "unseen" });
  }

  get items() {
    return this.review.items;
  }

  begin() {
    const { review } = this;
    const header = h("header", { class: "review-head" }, h("p", { class: "crumb" }, h("a", { href: `/books/${review.book}` }, review.title), " · review by hand"));
    const rest = h(
      "div",
      { class: "review-rest" },
      this.tallies,
      missedPart(review, this.signal, (found) => this.counted(found)),
      h("details", { class: "more" }, h("summary", {}, "How this was drawn, and where it goes"), h("p", {}, review.said), h("p", {}, "The gold standard is ", h("code", {}, review.gold), ". How sure the build was is not shown, so that it sways nobody.")),
    );
    show(main(), header, this.said, h("div", { class: "review" }, h("div", {}, this.card, rest), this.leaf));
    document.addEventListener("keydown", (event) => this.key(event), { signal: this.signal });
    this.counted(review);
    const open = this.items.findIndex((item) => !item.verdict);
    this.go(open < 0 ? this.items.length : open);
  }

  key(event) {
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.metaKey || event.ctrlKey || event.altKey) return;
    const item = this.items[this.at];
    const key = event.key.toLowerCase();
    const acts = {
      arrowleft: () => this.go(this.at - 1),
      arrowright: () => this.go(this.at + 1),
      m: () => item?.spots.length > 1 && this.look((this.spot + 1) % item.spots.length),
      backspace: () => item?.verdict && this.judge(null),
    };
    if (KEYS[key] && item) this.judge(KEYS[key]);
    else if (/^[123]$/.test(key) && item?.kind === "person") this.judge("right", IMPORTANCE[key - 1]);
    else if (acts[key]) acts[key]();
    else return;
    event.preventDefault();
  }

  /** Show claim `n`; one past the last is the end. */
  go(n) {
    this.at = Math.max(0, Math.min(n, this.items.length));
    this.draw();
    if (this.items[this.at]) this.look(0);
    else show(this.leaf);
  }

  draw(problem = null) {
    const item = this.items[this.at];
    const left = this.items.filter((one) => !one.verdict).length;
    const back = h("button", { class: "quiet-button", disabled: this.at === 0, onclick: () => this.go(this.at - 1) }, "← Back");
    const on = h("button", { class: "quiet-button", disabled: !item, onclick: () => this.go(this.at + 1) }, "On →");
    const done = h("progress", { max: this.items.length, value: this.items.length - left, "aria-label": "Judged" });
    const where = h("p", { class: "turns" }, back, h("span", { class: "quiet" }, item ? `${this.at + 1} of ${this.items.length}, ${left} left ` : `${count(left, "claim")} left `, done), on);
    if (!item) {
      const first = this.items.findIndex((one) => !one.verdict);
      const ahead = left ? h("p", {}, h("button", { class: "primary", onclick: () => this.go(first) }, "To the first that is left")) : null;
      const folder = this.review.gold.replace(/[\\/]novels[\\/][^\\/]*$/, "");
      const use = h("p", {}, "What you marked is a gold standard now: ", h("code", {}, `gutengraph evaluate ${folder}`), ".");
      show(this.card, where, h("h1", {}, left ? "The end of the list." : "All judged."), ahead, use);
      return;
    }
    show(
      this.card,
      where,
      h("p", { class: "kind-of" }, KINDS[item.kind]),
      h("h1", {}, question(item)),
      item.names.length ? h("p", { class: "aliases" }, `Also ${item.names.slice(0, 6).join(", ")}`) : null,
      this.places(item),
      h("div", { class: "verdicts", role: "group", "aria-label": "Verdict" }, VERDICTS.map(([verdict, words, key]) => this.button(item, verdict, words, key))),
      item.kind === "person" ? this.importance(item) : null,
      problem ? failure(problem) : null,
      h("p", { class: "quiet hint" }, HINTS[item.kind]),
    );
  }

  button(item, verdict, words, key) {
    const pressed = item.verdict === verdict;
    return h("button", { class: `verdict ${verdict}`, "aria-pressed": String(pressed), onclick: () => this.judge(pressed ? null : verdict) }, words, h("kbd", {}, key));
  }

  importance(item) {
    const choose = (event) => (item.verdict ? this.judge(item.verdict, event.target.value, { stay: true }) : (item.importance = event.target.value));
    const select = h("select", { "aria-label": "Importance", onchange: choose }, IMPORTANCE.map((word, i) => h("option", { value: word }, `${word} (${i + 1})`)));
    select.value = item.importance;
    return h("p", { class: "importance" }, h("label", {}, "A ", select, " character"));
  }

  places(item) {
    if (item.spots.length < 2) return null;
    return h("p", { class: "spots", role: "group", "aria-label": "Places" }, item.spots.map((_, i) => h("button", { "aria-pressed": String(i === this.spot), onclick: () => this.look(i) }, `Place ${i + 1}`)), h("kbd", {}, "m"));
  }

  /** Show one of the places where the text bears on the claim. */
  async look(n) {
    const item = this.items[this.at];
    this.spot = n;
    this.draw();
    const spot = item.spots[n];
    if (!spot) {
      show(this.leaf, h("p", { class: "quiet" }, "The build names no place for it."));
      return;
    }
    const place = { book: this.review.book, ...spot };
    show(this.leaf, skeleton(6));
    await new Promise((resolve) => setTimeout(resolve, RESTS_MS));
    if (this.items[this.at] !== item || this.spot !== n) return;
    try {
      const leaf = await passageLeaf(place, 2, this.signal);
      if (this.items[this.at] !== item || this.spot !== n) return;
      show(this.leaf, leaf, h("p", { class: "onward" }, h("a", { href: passageUrl(place) }, "Read on in the book")));
      const mark = this.leaf.querySelector("mark");
      const below = (node) => node.getBoundingClientRect().top;
      if (mark) this.leaf.scrollTop += below(mark) - below(this.leaf) - this.leaf.clientHeight / 3;
    } catch (error) {
      if (error.name !== "AbortError") show(this.leaf, failure(error.problem));
    }
  }

  /** Keep a verdict; then on to the next claim, unless one was taken back. */
  async judge(verdict, importance = null, { stay = false } = {}) {
    const item = this.items[this.at];
    if (this.asked) return;
    this.asked = { key: item.key, verdict, importance: importance ?? item.importance };
    try {
      const found = await put(`/books/${this.review.book}/review/marks`, this.asked, this.signal);
      Object.assign(item, { verdict, importance: this.asked.importance });
      this.counted(found);
      show(this.said, verdict ? `Marked ${verdict}.` : "Mark taken back.");
      // meanwhile an arrow key may have led elsewhere: nobody is taken on from there
      if (verdict && !stay && this.items[this.at] === item) this.go(this.at + 1);
      else this.draw();
    } catch (error) {
      if (error.name === "AbortError") return;
      if (this.items[this.at] !== item) this.go(this.items.indexOf(item)); // what failed is shown on its own claim
      this.draw(error.problem);
    } finally {
      this.asked = null;
    }
  }

  counted({ tallies }) {
    const cells = (t) => [t.precision === null ? "–" : t.precision.toFixed(2), t.interval ? `${t.interval[0].toFixed(2)} to ${t.interval[1].toFixed(2)}` : "", t.right, t.wrong, t.unsure, t.left];
    const row = (t) => h("tr", { data: { kind: t.kind } }, h("th", { scope: "row" }, KINDS[t.kind]), cells(t).map((cell) => h("td", {}, String(cell))));
    const head = ["", "Precision", "95 %", "Right", "Wrong", "Unsure", "Left"];
    show(this.tallies, h("table", {}, h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, tallies.map(row))));
  }
}

const HINTS = {
  person: "Right if it is somebody of this book, under this name. 1, 2, 3: right, and how important.",
  place: "Right if it is a place.",
  merge: "Wrong if two different people go by these names.",
  relation: "Right if it is true at some time in the book, this way round.",
};

/** 'Is Ann sibling of Beth?', but 'Ann loves Beth: is it so?' */
const NOUNS = /_(of|to|as|at)$|^born_in$/;

function question({ kind, a, b, type }) {
  const who = (name) => h("em", {}, name);
  if (kind === "person") return ["Is ", who(a), " somebody in this book?"];
  if (kind === "place") return ["Is ", who(a), " a place?"];
  if (kind === "merge") return ["Are ", who(a), " and ", who(b), " one person?"];
  const said = [who(a), ` ${inWords(type)} `, who(b)];
  return NOUNS.test(type) ? ["Is ", said, "?"] : [said, ": is it so?"];
}
