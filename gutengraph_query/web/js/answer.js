// One mode's answer: what is under way, then the answer, its evidence, and how it came about.

import { count, failure, h, inWords, number, prose, show, skeleton, withCode } from "./dom.js";
import { placeLink, shortened, withFootnotes } from "./footnotes.js";

const NODES = { supervisor: "Choosing the way", vector_agent: "Passages", graph_agent: "Graph", tools_agent: "Tools", merge: "Answer" };
const NAMES = { auto: "Auto", vector: "Passages", graph: "Graph", hybrid: "Both", tools: "Tools" };

/** A column that follows a mode. `step`, `answer` and `failed` fill it; nothing above what is read moves. */
export class Column {
  constructor(mode, { upTo = null, retry } = {}) {
    this.upTo = upTo;
    this.retry = retry;
    this.mode = mode;
    this.steps = h("ol", { class: "steps" });
    this.body = h("div", { class: "body", "aria-live": "polite" }, skeleton(3));
    this.head = h("h2", {}, NAMES[mode] ?? mode);
    this.node = h("article", { class: "column", data: { mode, state: "running" } }, this.head, this.steps, this.body);
    show(this.steps, h("li", { class: "now" }, "Reading the question"));
  }

  step({ node, said, passages, paths }) {
    this.steps.querySelector(".now")?.remove();
    this.steps.append(
      h("li", {}, h("b", {}, NODES[node] ?? inWords(node)), " ", node === "merge" ? "is written" : shortened(said.at(-1) ?? "", 24)),
    );
    if (passages.length || paths.length) {
      const shown = paths.length ? paths.slice(0, 4) : passages.slice(0, 4).map((p) => `${p.title}, chapter ${p.chapter}`);
      this.found = h("ul", { class: "found" }, shown.map((line) => h("li", {}, line)));
      show(this.body, this.found, skeleton(2));
    }
    if (node !== "merge") this.steps.append(h("li", { class: "now" }, "At work"));
  }

  waiting({ said }) {
    const now = this.steps.querySelector(".now") ?? this.steps.appendChild(h("li", { class: "now" }));
    show(now, said.replace(/\.$/, ""));
  }

  failed(problem) {
    this.node.dataset.state = "failed";
    this.steps.querySelector(".now")?.remove();
    show(this.body, failure(problem, this.retry));
  }

  answer(answer) {
    this.node.dataset.state = answer.known ? "known" : "unknown";
    this.steps.remove();
    show(this.body, answer.notice ? h("p", { class: "notice" }, answer.notice) : null, answer.known ? this.known(answer) : this.unknown(answer), how(answer));
  }

  known(answer) {
    const cited = answer.citations.filter((c) => answer.answer.includes(`[${c.n}]`));
    const rest = answer.citations.filter((c) => !cited.includes(c));
    return [
      h("p", { class: "said" }, withFootnotes(answer.answer, answer.citations, this.upTo)),
      cited.length ? h("ol", { class: "evidence", "aria-label": "Evidence" }, cited.map((c) => this.place(c))) : null,
      rest.length
        ? h("details", { class: "more" }, h("summary", {}, `${count(rest.length, "more place")} looked at`), h("ol", { class: "evidence" }, rest.map((c) => this.place(c))))
        : null,
    ];
  }

  unknown(answer) {
    return [
      h("p", { class: "said" }, answer.answer),
      answer.nearest.length ? h("h3", {}, "The nearest passages") : null,
      answer.nearest.length ? h("ol", { class: "evidence" }, answer.nearest.map((p) => this.place(p))) : null,
    ];
  }

  place(citation) {
    const where = `${citation.title}, ${citation.chapter_title}`;
    return h(
      "li",
      { value: citation.n },
      citation.line ? h("p", { class: "line" }, citation.line) : null,
      h("blockquote", {}, prose(shortened(citation.text))),
      h("p", { class: "where" }, citation.n ? h("span", { class: "n" }, `[${citation.n}] `) : null, placeLink(citation, where, this.upTo)),
    );
  }
}

function how(answer) {
  const seconds = `${answer.timings.total.toFixed(answer.timings.total < 1 ? 2 : 1)} s`;
  const about = answer.tokens.estimated ? "about " : "";
  const tokens = answer.tokens.prompt + answer.tokens.completion;
  const facts = [
    answer.mode === "auto" ? `${NAMES[answer.routed_to] ?? answer.routed_to}: ${answer.why}` : null,
    seconds,
    answer.tokens.calls ? `${about}${count(tokens, "token")} in ${count(answer.tokens.calls, "call")}` : "no model needed",
    count(answer.citations.length, "place"),
  ].filter(Boolean);
  const parts = Object.entries(answer.timings).filter(([name]) => name !== "total");
  return h(
    "footer",
    { class: "how" },
    h("p", { class: "figures" }, facts.join(" · ")),
    h(
      "details",
      {},
      h("summary", {}, "How it came about"),
      h("dl", { class: "facts" },
        fact("Route", `${answer.routed_to} (${answer.why})`),
        answer.entry ? fact("Entered by", `${answer.entry.node} (${answer.entry.score.toFixed(2)})`) : null,
        answer.model ? fact("Model", h("code", {}, answer.model)) : null,
        fact("Time", parts.map(([name, s]) => `${NODES[name] ?? inWords(name)} ${number(Math.round(s * 1000))} ms`).join(", ")),
      ),
      answer.paths.length ? [h("h4", {}, "Paths"), h("ul", { class: "paths" }, answer.paths.map((p) => h("li", {}, p)))] : null,
      answer.cypher ? [h("h4", {}, "Asked of the graph"), h("pre", {}, h("code", {}, answer.cypher))] : null,
    ),
  );
}

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, typeof value === "string" ? withCode(value) : value));
