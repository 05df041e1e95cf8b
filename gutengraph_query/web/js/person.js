// Somebody or something of a book, beside the text: relations with their quotes, where from, and which names were joined.

import { get } from "./api.js";
import { spark } from "./cast.js";
import { count, h, inWords, prose, show } from "./dom.js";
import { openDrawer } from "./drawer.js";
import { placeLink, shortened } from "./footnotes.js";

const RULES = {
  title: "one has a title", surname: "same surname", given_name: "same given name", nickname: "a pet name",
  override: "joined by hand", containment: "one name holds the other",
};

/** Open the leaf of node `id` of a network. */
export async function openBeing(network, id, book, upTo) {
  const being = network.nodes.find((n) => n.id === id);
  if (!being) return;
  const relations = network.edges.filter((e) => e.source === id || e.target === id);
  const company = network.together.filter((t) => t.a === id || t.b === id).slice(0, 6);
  const name = (other) => network.nodes.find((n) => n.id === other)?.name ?? other;
  const others = being.aliases.filter((a) => a !== being.name);
  const facts = [being.role, { M: "male", F: "female" }[being.gender], being.character_type, being.social_class, being.kind, count(being.mentions, "mention")].filter(Boolean);
  const joins = h("div");
  openDrawer(
    being.name,
    h("p", { class: "figures" }, facts.join(" · ")),
    others.length ? h("p", {}, h("span", { class: "quiet" }, "Also "), others.join(", ")) : null,
    being.motivation ? h("p", {}, h("span", { class: "quiet" }, "Wants: "), being.motivation) : null,
    being.arc ? h("p", {}, h("span", { class: "quiet" }, "Changes: "), being.arc) : null,
    spark(being.chapters, book.chapters.length, { width: 320, height: 40 }),
    h("p", {}, placeLink({ book: book.id, start: being.first[0], end: being.first[1], title: book.title }, "First mention", upTo)),
    h("h3", {}, relations.length ? count(relations.length, "relation") : "No relation is told in so many words"),
    h("ul", { class: "relations" }, relations.map((r) => relation(r, book, upTo))),
    company.length ? h("h3", {}, "Often in the same passages") : null,
    company.length ? h("ul", { class: "company" }, company.map((t) => h("li", {}, h("button", { class: "name", onclick: () => openBeing(network, t.a === id ? t.b : t.a, book, upTo) }, name(t.a === id ? t.b : t.a)), h("span", { class: "quiet" }, ` ${count(t.passages, "passage")}`)))) : null,
    joins,
  );
  const merges = await get(`/books/${book.id}/merges`, { up_to: upTo }).catch(() => []);
  const own = merges.filter((m) => m.entity === id);
  if (own.length) {
    show(joins, h("h3", {}, "Names taken for one"), h("ul", { class: "merges" }, own.map((m) => merge(m, book, upTo))));
  }
}

/** An edge in words, with its quote. */
export function relation(edge, book, upTo) {
  const place = { book: book.id, start: edge.start, end: edge.end, title: book.title };
  const sure = edge.stated ? "stated" : "likely";
  return h(
    "li",
    { class: sure },
    h("p", {}, h("b", {}, edge.a), ` ${inWords(edge.type)} `, h("b", {}, edge.b), h("span", { class: `chip ${sure}`, title: `Confidence ${edge.confidence.toFixed(2)}; found by ${edge.how}` }, sure)),
    h("blockquote", {}, prose(shortened(edge.quote))),
    h("p", { class: "where" }, placeLink(place, chapterName(book, edge.chapter), upTo)),
  );
}

export const chapterName = (book, index) => book.chapters.find((c) => c.index === index)?.title || `Chapter ${index}`;

function merge(m, book, upTo) {
  const place = m.start === null ? null : { book: book.id, start: m.start, end: m.end, title: book.title };
  return h(
    "li",
    {},
    h("p", {}, h("b", {}, m.a), " and ", h("b", {}, m.b), h("span", { class: "quiet" }, ` ${RULES[m.rule] ?? inWords(m.rule)}`)),
    m.quote ? h("blockquote", {}, prose(shortened(m.quote, 30))) : null,
    place ? h("p", { class: "where" }, placeLink(place, m.chapter ? chapterName(book, m.chapter) : "the place", upTo)) : null,
  );
}
