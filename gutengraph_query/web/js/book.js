// A book: its cast, its network, its arc, its places, events and themes, and what its build counted.

import { get } from "./api.js";
import { askField } from "./askfield.js";
import { arcFigures } from "./arc.js";
import { castTable, nameButton, spark } from "./cast.js";
import { count, failure, h, main, number, people, show, skeleton, withCode } from "./dom.js";
import { placeLink } from "./footnotes.js";
import { go } from "./main.js";
import { networkFigure } from "./network.js";
import { chapterName, openBeing } from "./person.js";

export async function open([id], signal) {
  const given = new URLSearchParams(location.search);
  const upTo = Number(given.get("up_to")) || null;
  let book;
  try {
    book = await get(`/books/${id}`, {}, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    show(main(), failure(error.problem, error.status === 404 ? null : () => open([id], signal)), h("p", {}, h("a", { href: "/" }, "To the shelf")));
    return;
  }
  document.title = `${book.title || `Book ${id}`} · GutenGraph`;
  const parts = {};
  const part = (name, title, lines = 4) => {
    parts[name] = h("div", { class: "part" }, skeleton(lines));
    return h("section", { id: name, "aria-label": title }, h("h2", {}, title), parts[name]);
  };
  const choose = async (being) => network && openBeing(network, being, book, upTo);
  show(
    main(),
    header(book, upTo),
    h("nav", { class: "parts", "aria-label": "Parts of this screen" }, [["people", "People"], ["network", "Network"], ["arc", "Arc"], ["places", "Places"], ["events", "Events"], ["themes", "Themes"], ["built", "How it was built"]].map(([to, name]) => h("a", { href: `#${to}` }, name))),
    h("section", { class: "hero small" }, askField({ settings: () => ({ book: id, upTo }), signal, book: id, upTo })),
    part("people", "People", 8),
    part("network", "Network", 6),
    part("arc", "Arc", 6),
    h("div", { class: "pair" }, part("places", "Places"), part("themes", "Themes and atmosphere")),
    part("events", "Events", 3),
    part("built", "How it was built"),
  );
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  const fill = async (name, ask, draw) => {
    try {
      show(parts[name], draw(await ask()));
    } catch (error) {
      if (error.name === "AbortError") return;
      show(parts[name], failure(error.problem ?? { error: String(error), remedy: "" }));
    }
  };
  let network = null;
  const graph = get(`/books/${id}/graph`, { up_to: upTo }, signal);
  graph.then((found) => (network = found), () => {});
  const of = (label) => async () => (await graph).nodes.filter((n) => n.label === label);
  const last = book.chapters.at(-1)?.index ?? 1;
  await Promise.all([
    fill("people", of("Character"), (found) => peoplePart(found, last, choose)),
    fill("network", () => graph, (found) => networkFigure(found, book, upTo, choose, signal)),
    fill("arc", () => get(`/books/${id}/arc`, { up_to: upTo }, signal), (found) => arcFigures(found, book, upTo, signal)),
    fill("places", of("Location"), (found) => placesPart(found, last, choose)),
    fill("events", () => get(`/books/${id}/events`, { up_to: upTo }, signal), (found) => eventsPart(found, book, upTo, choose)),
    fill("themes", () => get(`/books/${id}/themes`, { up_to: upTo }, signal), (found) => themesPart(found, book, upTo)),
    fill("built", () => get(`/books/${id}/ledger`, {}, signal), (found) => builtPart(found, book)),
  ]);
  const who = given.get("who");
  if (who && !signal.aborted) choose(who);
}

function header(book, upTo) {
  const chapters = book.chapters.filter((c) => c.index > 0);
  const reach = h("select", { "aria-label": "Read up to chapter", onchange: (e) => go(`/books/${book.id}${e.target.value ? `?up_to=${e.target.value}` : ""}`) }, h("option", { value: "" }, "the whole book"), chapters.map((c) => h("option", { value: c.index }, c.title || `Chapter ${c.index}`)));
  reach.value = upTo ?? "";
  const facts = [book.kind, chapters.length ? count(chapters.length, "chapter") : null, book.words ? count(book.words, "word") : null, book.chunks ? count(book.chunks, "passage") : null].filter(Boolean);
  const reason = book.status === "built" ? "" : [book.reason, book.remedy].filter(Boolean).join(" ");
  return h(
    "header",
    { class: "title" },
    h("h1", {}, book.title || `Book ${book.id}`),
    h("p", { class: "author" }, people(book.authors)),
    h("p", { class: "figures" }, facts.join(" · ")),
    chapters.length > 1 ? h("p", { class: "reach" }, h("label", {}, "I have read ", reach), upTo ? h("span", { class: "quiet" }, " Nothing later is shown.") : null) : null,
    reason ? h("p", { class: "reason" }, h("span", { class: `chip ${book.status}` }, book.status), " ", withCode(reason)) : null,
    h("p", {}, h("a", { href: chapters.length ? `/passages/${book.id}/${chapters[0].start}` : `/passages/${book.id}/0` }, "Read it from the beginning")),
  );
}

function peoplePart(found, chapters, choose) {
  if (!found.length) return h("p", { class: "quiet" }, "Nobody is named in it.");
  const sorted = [...found].sort((a, b) => a.standing.localeCompare(b.standing) || b.mentions - a.mentions);
  return castTable(sorted, chapters, choose);
}

function placesPart(found, chapters, choose) {
  if (!found.length) return h("p", { class: "quiet" }, "No place is named in it.");
  const sorted = [...found].sort((a, b) => b.mentions - a.mentions);
  const row = (p) => h("li", {}, nameButton(p, choose), h("span", { class: "quiet" }, [p.kind, number(p.mentions)].filter(Boolean).join(" · ")), spark(p.chapters, chapters, { width: 96, height: 20 }));
  return [
    h("ul", { class: "places" }, sorted.slice(0, 10).map(row)),
    sorted.length > 10 ? h("details", { class: "more" }, h("summary", {}, `${sorted.length - 10} more`), h("ul", { class: "places" }, sorted.slice(10).map(row))) : "",
  ];
}

function eventsPart(found, book, upTo, choose) {
  if (!found.length) {
    document.querySelector('nav.parts a[href="#events"]')?.remove();
    return h("p", { class: "quiet" }, "Its text names no event in so many words.");
  }
  const row = ({ event, people, places }) => h(
    "li",
    {},
    nameButton(event, choose),
    h("span", { class: "quiet" }, ` ${[event.kind, ...people.map((p) => p.name), ...places.map((p) => p.name)].filter(Boolean).join(" · ")} `),
    placeLink({ book: book.id, start: event.first[0], end: event.first[1], title: book.title }, chapterName(book, event.chapters[0]?.[0]), upTo),
  );
  return h("ul", { class: "events" }, found.map(row));
}

function themesPart(found, book, upTo) {
  if (!found.length) return h("p", { class: "quiet" }, "None has been found with two passages to rest on.");
  const place = (p, i) => placeLink({ book: book.id, start: p.start, end: p.end, title: book.title }, `[${i + 1}]`, upTo, "fn");
  return h("ul", { class: "themes" }, found.map((n) => h("li", { class: n.kind }, h("b", {}, n.name), h("span", { class: "quiet" }, ` ${n.kind} `), n.passages.slice(0, 6).map(place))));
}

function builtPart(steps, book) {
  const by = [book.llm, book.embedder].filter(Boolean).map((m) => h("code", {}, m));
  return [
    book.built_at ? h("p", {}, `Built ${new Date(book.built_at).toLocaleString("en", { dateStyle: "long", timeStyle: "short" })}`, by.length ? [" with ", by[0], by[1] ? [" and ", by[1]] : ""] : "", ".") : "",
    steps.length
      ? h("ul", { class: "ledger" }, steps.map((step) => h("li", {}, h("p", {}, h("b", {}, step.step), ": ", step.words, "."), counts("Dropped", step.dropped), counts("Never proposed", step.set_aside))))
      : h("p", { class: "quiet" }, "Its ledger is empty."),
  ];
}

function counts(title, found) {
  const rows = Object.entries(found);
  if (!rows.length) return null;
  return h("details", { class: "more" }, h("summary", {}, title), h("dl", { class: "facts" }, rows.map(([why, n]) => h("div", {}, h("dt", {}, why), h("dd", {}, number(n))))));
}
