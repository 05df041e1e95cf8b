// What is served, which stores, what is missing and how to get it.

import { get } from "./api.js";
import { count, failure, h, main, show, skeleton, withCode } from "./dom.js";

const SAID = { ok: "All is well", starting: "Starting: the models are being loaded", degraded: "Not everything works", empty: "Nothing has been built yet" };

export async function open(_, signal) {
  document.title = "Health · GutenGraph";
  try {
    const health = await get("/health", {}, signal);
    const list = h("div", { "aria-live": "polite" }, skeleton(8));
    show(main(), h("section", { class: "health" }, h("h1", {}, "Health"), summary(health), h("h2", {}, "What this machine has"), list));
    const checks = await get("/health/checks", {}, signal);
    show(list, h("ul", { class: "checks" }, checks.map(check)));
  } catch (error) {
    if (error.name !== "AbortError") show(main(), h("h1", {}, "Health"), failure(error.problem, () => open(_, signal)));
  }
}

function summary(health) {
  const graph = health.graph;
  const rows = [
    ["State", h("span", { class: `chip ${health.status}` }, SAID[health.status])],
    ["Answers by", h("code", {}, health.llm)],
    ["Embedded by", h("code", {}, health.embedding)],
    ["Library", count(health.books, "book")],
    ["Graph", graph ? `version ${graph.version}, ${count(graph.books, "book")}, published ${when(graph.built_at)}` : "none published"],
    ["GutenGraph", health.version],
  ];
  const left = Object.entries(graph?.left_out ?? {});
  return [
    h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    health.reason ? h("p", { class: "reason" }, withCode(health.reason)) : null,
    left.length ? h("ul", {}, left.map(([book, why]) => h("li", {}, h("a", { href: `/books/${book}` }, `Book ${book}`), " is not in the graph: ", withCode(why)))) : null,
  ].filter(Boolean);
}

const when = (at) => new Date(at).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });

function check({ name, status, found, remedy }) {
  return h(
    "li",
    { class: `check ${status}` },
    h("h3", {}, name, h("span", { class: `chip ${status}` }, status)),
    h("p", {}, found),
    remedy ? h("p", { class: "remedy" }, withCode(remedy)) : null,
  );
}
