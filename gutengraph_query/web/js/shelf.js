// The shelf: every book a card with its state; a field to ask them all.

import { get } from "./api.js";
import { count, failure, h, main, number, people, show, withCode } from "./dom.js";
import { askField } from "./askfield.js";

const SORTS = {
  title: (a, b) => bare(a.title).localeCompare(bare(b.title)),
  author: (a, b) => (a.authors[0] ?? "").localeCompare(b.authors[0] ?? ""),
  "largest cast": (a, b) => b.cast - a.cast,
  "newest": (a, b) => b.built_at.localeCompare(a.built_at),
};
const bare = (title) => title.replace(/^(The|A|An) /, "");
const STATES = { built: "Built", building: "Building", parked: "Parked", failed: "Failed", registered: "Not built" };

export async function open(_, signal) {
  document.title = "Shelf · GutenGraph";
  try {
    const books = await get("/books", {}, signal);
    draw(books, signal);
  } catch (error) {
    if (error.name !== "AbortError") show(main(), failure(error.problem, () => open(_, signal)));
  }
}

function draw(books, signal) {
  if (!books.length) {
    const words = withCode("No books yet. `gutengraph add 84 && gutengraph build 84`, or open Dagster at ");
    const dagster = h("a", { href: "http://127.0.0.1:3000/" }, "127.0.0.1:3000");
    show(main(), h("section", { class: "empty" }, h("h1", {}, "Shelf"), h("p", {}, words, dagster, ".")));
    again(books, signal);
    return;
  }
  const filter = h("input", { type: "search", placeholder: "Title or author", "aria-label": "Search the shelf" });
  const order = h("select", { "aria-label": "Sort by" }, Object.keys(SORTS).map((k) => h("option", { value: k }, `by ${k}`)));
  const cards = h("ul", { class: "shelf" });
  const fill = () => {
    const asked = filter.value.trim().toLowerCase();
    const found = books.filter((b) => `${b.title} ${people(b.authors)} ${b.id}`.toLowerCase().includes(asked));
    show(cards, found.sort(SORTS[order.value]).map(card));
    if (!found.length) show(cards, h("li", { class: "quiet" }, "No book here is called so."));
  };
  filter.addEventListener("input", fill);
  order.addEventListener("change", fill);
  fill();
  const usable = books.some((b) => b.published);
  show(
    main(),
    usable ? h("section", { class: "hero" }, h("h1", {}, "Ask the books"), askField({ signal })) : null,
    h(
      "section",
      {},
      h("div", { class: "bar" }, h("h2", {}, "Shelf"), h("span", { class: "quiet" }, count(books.length, "book")), h("span", { class: "push" }), filter, order),
      cards,
    ),
  );
  again(books, signal);
}

function card(book) {
  const figures =
    book.status === "registered"
      ? []
      : [count(book.cast, "person", "in the cast"), count(book.relations, "relation"), count(book.chunks, "passage")];
  const reason = book.status === "built" ? "" : [book.reason, book.remedy].filter(Boolean).join(" ");
  return h(
    "li",
    { class: "card", data: { status: book.status } },
    h("h3", {}, h("a", { href: `/books/${book.id}` }, book.title || `Book ${book.id}`)),
    h("p", { class: "author" }, people(book.authors) || "Author unknown"),
    figures.length ? h("p", { class: "figures" }, figures.join(" · ")) : null,
    h(
      "p",
      { class: "state" },
      h("span", { class: `chip ${book.status}` }, STATES[book.status] ?? book.status),
      book.percent === null ? null : h("progress", { max: 100, value: book.percent, "aria-label": "Built so far" }),
      book.percent === null ? null : ` ${number(book.percent)} %`,
      book.status === "built" && !book.published ? h("span", { class: "quiet" }, " newer than the published graph") : null,
    ),
    reason ? h("p", { class: "reason" }, withCode(reason)) : null,
  );
}

/** While something is being built, look again. */
function again(books, signal) {
  if (books.length && !books.some((b) => b.status === "building")) return;
  const timer = setTimeout(async () => {
    if (document.activeElement?.matches("input, select")) return again(books, signal);
    const newer = await get("/books", {}, signal).catch(() => books);
    if (signal.aborted) return;
    if (JSON.stringify(newer) === JSON.stringify(books)) again(books, signal);
    else draw(newer, signal);
  }, 4000);
  signal.addEventListener("abort", () => clearTimeout(timer));
}
