// The ask screen: one field, the modes, and the answer; or three answers side by side as they come.

import { events, get } from "./api.js";
import { Column } from "./answer.js";
import { askField, questionUrl } from "./askfield.js";
import { failure, h, main, show, withCode } from "./dom.js";
import { go } from "./main.js";

const MODES = [
  ["auto", "Auto", "Let the question decide"],
  ["vector", "Passages", "Ask the passages only"],
  ["graph", "Graph", "Ask the graph only"],
  ["hybrid", "Both", "Ask both brains"],
  ["compare", "Compare", "Three answers side by side"],
  ["tools", "Tools", "Let an able model look things up, in five rounds at most"],
];
const WITHIN = ["book", "author", "kind"];
const COMPARED = ["vector", "graph", "hybrid"];
const answered = new Map(); // address -> events, so that going back asks nothing again

export async function open(_, signal) {
  const given = new URLSearchParams(location.search);
  const q = (given.get("q") ?? "").trim();
  const mode = location.pathname.startsWith("/compare") ? "compare" : given.get("mode") ?? "auto";
  const within = WITHIN.filter((name) => given.get(name)).map((name) => [name, given.get(name)]);
  const { book = null, author, kind } = Object.fromEntries(within);
  const upTo = Number(given.get("up_to")) || null;
  document.title = q ? `${q} · GutenGraph` : "Ask · GutenGraph";

  const chosen = () => Object.fromEntries(new URLSearchParams(filter.value));
  const settings = () => ({ mode: switcher.querySelector(":checked")?.value, ...chosen(), upTo: chapter.hidden ? null : chapter.value });
  const again = () => q && go(questionUrl({ q, ...settings() }), { replace: true });
  const switcher = modeSwitch(mode, again);
  const filter = h("select", { "aria-label": "Which books" }, h("option", { value: "" }, "All books"));
  const chapter = h("select", { "aria-label": "Read up to chapter", hidden: true });
  const field = askField({ q, settings, signal, book, upTo });
  const results = h("div", { class: "results" });
  const bar = h("div", { class: "bar" }, switcher, h("span", { class: "push" }), filter, chapter);
  show(main(), h("section", { class: "ask" }, h("h1", {}, "Ask"), field, bar), results);
  if (!q) field.querySelector("input").focus({ preventScroll: true });

  fillBooks(filter, within, signal).then(() => fillChapters(chapter, book, upTo, signal));
  filter.addEventListener("change", async () => {
    const { book = null } = chosen();
    await fillChapters(chapter, book, null, signal);
    field.fill(book, null);
    again();
  });
  chapter.addEventListener("change", () => {
    field.fill(chosen().book, chapter.value);
    again();
  });
  document.addEventListener("keydown", (event) => keys(event, switcher), { signal });
  if (q) await answer(results, { q, mode, book, author, kind, upTo }, signal);
}

function modeSwitch(chosen, changed) {
  const options = MODES.map(([mode, name, title], i) =>
    h("label", { title: `${title} (${i + 1})` }, h("input", { type: "radio", name: "mode", value: mode, checked: mode === chosen, onchange: changed }), h("span", {}, name)),
  );
  return h("fieldset", { class: "switch" }, h("legend", { class: "unseen" }, "Which brain"), options);
}

/** Books; before them the authors of several and, of a mixed library, the kinds. A value is a piece of the address. */
async function fillBooks(filter, within, signal) {
  const books = (await get("/books", {}, signal).catch(() => [])).filter((b) => b.chunks);
  const option = (pairs, text) => h("option", { value: new URLSearchParams(pairs) }, text);
  const kinds = [...new Set(books.map((b) => b.kind))].sort();
  const authors = [...new Set(books.flatMap((b) => b.authors))].sort();
  const groups = {
    Kinds: kinds.length > 1 ? kinds.map((kind) => option([["kind", kind]], kind)) : [],
    Authors: authors
      .filter((author) => books.filter((b) => b.authors.includes(author)).length > 1)
      .map((author) => option([["author", author]], author)),
    Books: books.map((b) => option([["book", b.id]], b.title || `Book ${b.id}`)),
  };
  for (const [label, options] of Object.entries(groups)) if (options.length) filter.append(h("optgroup", { label }, options));
  const asked = String(new URLSearchParams(within));
  // What only the address asks for (an author of one book, an author and a kind) is shown all the same.
  if (![...filter.options].some((o) => o.value === asked)) filter.append(option(within, within.map(([, value]) => value).join(", ")));
  filter.value = asked;
}

async function fillChapters(chapter, book, upTo, signal) {
  if (!book) {
    chapter.hidden = true;
    return;
  }
  const found = await get(`/books/${book}`, {}, signal).catch(() => ({ chapters: [] }));
  const options = found.chapters.filter((c) => c.index > 0).map((c) => h("option", { value: c.index }, `up to ${c.title || `chapter ${c.index}`}`));
  show(chapter, h("option", { value: "" }, "Whole book"), options);
  chapter.value = upTo ?? "";
  chapter.hidden = options.length < 2;
}

/** Fill the columns as the answer comes; a failure of one leaves the others. */
async function answer(results, { q, mode, book, author, kind, upTo }, signal) {
  const modes = mode === "compare" ? COMPARED : [mode];
  const address = location.pathname + location.search;
  const retry = () => {
    answered.delete(address);
    go(address, { replace: true });
  };
  const columns = new Map(modes.map((m) => [m, new Column(m, { upTo, retry })]));
  const grid = h("div", { class: `columns ${mode === "compare" ? "three" : "one"}` }, [...columns.values()].map((c) => c.node));
  show(results, grid);
  const body = { question: q };
  if (mode !== "compare") body.mode = mode;
  if (book !== null) body.book = Number(book);
  if (author) body.author = author;
  if (kind) body.kind = kind;
  if (upTo) body.up_to = upTo;
  const take = ({ event, data }) => {
    const column = columns.get(data.mode);
    if (event === "step") column.step(data);
    else if (event === "waiting") column.waiting(data);
    else if (event === "answer") column.answer(data.answer);
    else if (event === "failed") column.failed(data);
  };
  const kept = answered.get(address);
  if (kept) {
    kept.forEach(take);
    return;
  }
  const heard = [];
  try {
    for await (const event of events(mode === "compare" ? "/compare" : "/ask", body, signal)) {
      heard.push(event);
      take(event);
    }
    if (!heard.some((e) => e.event === "failed")) answered.set(address, heard.filter((e) => e.event === "answer"));
  } catch (error) {
    if (error.name === "AbortError") return;
    for (const column of columns.values()) {
      if (column.node.dataset.state === "running") column.failed(error.problem ?? { error: String(error), remedy: "" });
    }
  }
  if ([...columns.values()].every((c) => c.node.dataset.state === "failed")) {
    results.append(h("p", { class: "quiet" }, withCode("What this machine lacks is on "), h("a", { href: "/health-page" }, "Health"), "."));
  }
}

/** 1 to 6 choose a mode, arrows go through the evidence. */
function keys(event, switcher) {
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "radio") return;
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  const mode = MODES[Number(event.key) - 1];
  if (mode) {
    const radio = switcher.querySelector(`[value=${mode[0]}]`);
    radio.focus();
    radio.click();
  } else if (["ArrowDown", "ArrowUp"].includes(event.key) && event.target.type !== "radio") {
    const links = [...document.querySelectorAll(".evidence .where a")].filter((a) => a.checkVisibility());
    if (!links.length) return;
    event.preventDefault();
    const here = links.indexOf(document.activeElement);
    const step = event.key === "ArrowDown" ? 1 : -1;
    links[(here + step + links.length) % links.length].focus();
  }
}
