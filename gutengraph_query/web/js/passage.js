// A passage: a leaf of the book with the quote marked. As a screen of its own, or beside the text.

import { get } from "./api.js";
import { closeDrawer, openDrawer } from "./drawer.js";
import { failure, h, main, passageUrl, people, prose, show, skeleton } from "./dom.js";
import { go } from "./main.js";

/** Open a passage beside the text. */
export async function openPassage(place, upTo) {
  const leaf = h("div", {}, skeleton(6));
  openDrawer(place.title ?? "Passage", leaf);
  try {
    const page = await load(place.book, place.start, { end: place.end, up_to: upTo });
    const whole = h("a", { href: passageUrl(place, upTo) }, "Read on in the book");
    show(leaf, heading(page), text(page), h("p", { class: "onward" }, whole), present(page, upTo));
    leaf.querySelector("mark")?.scrollIntoView({ block: "center" });
  } catch (error) {
    show(leaf, failure(error.problem));
  }
}

/** A passage with its mark, to stand in another screen. */
export async function passageLeaf(place, around, signal) {
  const page = await load(place.book, place.start, { end: place.end, around }, signal);
  return [heading(page, "h2"), text(page)];
}

const load = (book, start, query, signal) => get(`/passages/${book}/${start}`, query, signal);

export async function open([book, start], signal) {
  const given = new URLSearchParams(location.search);
  const upTo = given.get("up_to");
  try {
    const page = await load(book, start, { end: given.get("end"), up_to: upTo, around: 4 }, signal);
    document.title = `${page.chapter_title || page.title} · ${page.title}`;
    const turn = (place, words) =>
      place ? h("a", { href: passageUrl({ book, start: place.start }, upTo), rel: words[1] }, words[0]) : h("span", {});
    const [back, on] = [turn(page.previous, ["← Before", "prev"]), turn(page.next, ["After →", "next"])];
    show(
      main(),
      h(
        "article",
        { class: "reading" },
        h("p", { class: "crumb" }, h("a", { href: `/books/${book}${upTo ? `?up_to=${upTo}` : ""}` }, page.title), page.authors.length ? ` by ${people(page.authors)}` : ""),
        heading(page, "h1"),
        text(page),
        h("nav", { class: "turn", "aria-label": "Pages" }, back, on),
        present(page, upTo, page.chapter),
      ),
    );
    if (given.get("end")) document.querySelector("mark")?.scrollIntoView({ block: "center" });
    document.addEventListener("keydown", (event) => keys(event), { signal });
  } catch (error) {
    if (error.name !== "AbortError") show(main(), failure(error.problem), h("p", {}, h("a", { href: `/books/${book}` }, "To the book")));
  }
}

function keys(event) {
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.metaKey || event.ctrlKey || event.altKey) return;
  const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const link = rel && document.querySelector(`.turn a[rel=${rel}]`);
  if (link) go(link.href).then(() => scrollTo(0, 0));
}

function heading(page, tag = "h3") {
  const title = page.chapter_title || (page.chapter ? `Chapter ${page.chapter}` : "Before the first chapter");
  return h(tag, { class: "chapter" }, page.part ? h("small", {}, page.part) : null, prose(title));
}

function text(page) {
  const marked = new URLSearchParams(location.search).has("end") || page.end - page.start > 1;
  const words = (p) => p.pieces.map((piece) => piece.text).join("").replace(/\s+/g, " ").trim();
  const headed = (p, i) => i === 0 && words(p) === page.chapter_title && !p.pieces.some((piece) => piece.marked && marked);
  return h(
    "div",
    { class: "leaf-text" },
    page.paragraphs.filter((p, i) => !headed(p, i)).map((p) =>
      h("p", { class: p.verse ? "verse" : "" }, p.pieces.map((piece) => (piece.marked && marked ? h("mark", {}, prose(piece.text)) : prose(piece.text)))),
    ),
  );
}

function present(page, upTo, chapter) {
  if (!page.present.length) return "";
  const link = (who) => h("a", { class: `kind ${who.label.toLowerCase()}`, href: `/books/${page.book}?${new URLSearchParams({ ...(upTo ? { up_to: upTo } : {}), who: who.id })}`, onclick: () => closeDrawer() }, who.name);
  return h("section", { class: "present" }, h("h3", {}, chapter ? "On this page" : "Who is here"), h("ul", {}, page.present.map((who) => h("li", {}, link(who)))));
}
