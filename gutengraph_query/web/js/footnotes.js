// Numbers in an answer: hover or focus shows the quote, click opens the passage beside the text.

import { h, passageUrl, prose, show } from "./dom.js";
import { openPassage } from "./passage.js";

const tip = () => document.getElementById("tip");

/** The answer with its `[n]` as links to what they rest on. */
export function withFootnotes(text, citations, upTo) {
  const byNumber = new Map(citations.map((c) => [c.n, c]));
  return text.split(/\s*\[(\d+)\]/).map((part, i) => {
    if (i % 2 === 0) return part;
    const citation = byNumber.get(Number(part));
    return citation ? footnote(citation, upTo) : `[${part}]`;
  });
}

/** One number. */
export function footnote(citation, upTo) {
  const link = placeLink(citation, `[${citation.n}]`, upTo, "fn");
  link.setAttribute("aria-label", `Evidence ${citation.n}: ${citation.title}, ${citation.chapter_title}`);
  const said = () => hint(link, citation);
  link.addEventListener("mouseenter", said);
  link.addEventListener("focus", said);
  for (const leaving of ["mouseleave", "blur", "click"]) link.addEventListener(leaving, () => (tip().hidden = true));
  return h("sup", {}, link);
}

/** A link to a passage that opens beside the text; in a tab of its own with the keys for that. */
export function placeLink(place, text, upTo, style = "") {
  const click = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    openPassage(place, upTo);
  };
  return h("a", { href: passageUrl(place, upTo), class: style, onclick: click }, text);
}

function hint(link, citation) {
  const box = tip();
  show(
    box,
    citation.line ? h("p", { class: "line" }, citation.line) : "",
    h("q", {}, prose(shortened(citation.text))),
    h("p", { class: "quiet" }, `${citation.title}, ${citation.chapter_title}`),
  );
  box.hidden = false;
  const at = link.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, innerWidth - box.offsetWidth - 8));
  const below = at.bottom + 8 + box.offsetHeight < innerHeight;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${(below ? at.bottom + 8 : at.top - box.offsetHeight - 8) + scrollY}px`;
}

/** The first words of a long text. */
export function shortened(text, words = 45) {
  const all = text.split(/\s+/);
  return all.length > words ? `${all.slice(0, words).join(" ")} …` : text;
}
