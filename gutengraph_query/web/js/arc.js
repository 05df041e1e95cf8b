// The story arc: the book's way through its own range, and how glad or sad it is, passage by passage.

import { get } from "./api.js";
import { h, prose, s, show } from "./dom.js";
import { placeLink, shortened } from "./footnotes.js";

const W = 640;
const H = 280;
const PAD = 28;
const TICKS = 14;

/** Both figures and the line that says which passage is under the pointer. */
export function arcFigures(arc, book, upTo, signal) {
  const points = arc.chunks;
  if (!points.length) return h("p", { class: "quiet" }, "Nothing to draw yet.");
  const said = h("div", { class: "arc-said", "aria-live": "polite" }, h("p", { class: "quiet" }, "Point at the path, or use the arrow keys on it, to see the passage."));
  const path = pathFigure(arc);
  const feeling = feelingFigure(arc);
  let at = -1;
  let timer = null;
  const look = (i) => {
    at = Math.max(0, Math.min(points.length - 1, i));
    path.mark(at);
    feeling.mark(at);
    clearTimeout(timer);
    timer = setTimeout(() => tell(said, points[at], arc, book, upTo, signal), 120);
  };
  for (const figure of [path, feeling]) {
    figure.svg.addEventListener("pointermove", (event) => look(figure.nearest(event)));
    figure.svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      look(at + step);
    });
    figure.svg.addEventListener("click", () => said.querySelector("a")?.click());
  }
  return h(
    "div",
    { class: "arcs" },
    h("figure", {}, path.svg, h("figcaption", {}, "The way through the book: passages that are alike lie close. Numbers are chapters.")),
    h("figure", {}, feeling.svg, h("figcaption", {}, h("span", { class: "key lexicon" }, "by a word list"), h("span", { class: "key embedding" }, "by the embedding model"), " Neither hears irony: a word list reads it as joy.")),
    said,
  );
}

async function tell(place, point, arc, book, upTo, signal) {
  const chapter = arc.chapters.findLast((c) => c.start <= point.start);
  const title = chapter?.title || `Chapter ${point.chapter}`;
  place.dataset.chunk = point.chunk_id;
  try {
    const page = await get(`/passages/${book.id}/${point.start}`, { around: 0, up_to: upTo }, signal);
    if (place.dataset.chunk !== point.chunk_id) return;
    const text = page.paragraphs.flatMap((p) => p.pieces.map((x) => x.text)).join("");
    const link = placeLink({ book: book.id, start: point.start, title: book.title }, title, upTo);
    show(place, h("blockquote", {}, prose(shortened(text, 40))), h("p", { class: "where" }, link));
  } catch (error) {
    if (error.name !== "AbortError") show(place, h("p", { class: "quiet" }, error.message));
  }
}

function frame(label) {
  return s("svg", { viewBox: `0 0 ${W} ${H}`, class: "arc", tabindex: 0, role: "img", "aria-label": label });
}

const scale = (values, low, high) => {
  const [a, b] = [Math.min(...values), Math.max(...values)];
  return (v) => low + ((v - a) / (b - a || 1)) * (high - low);
};

/** Few enough chapters that their numbers stand apart. */
function ticks(chapters) {
  const step = Math.ceil(chapters.length / TICKS);
  return chapters.filter((_, i) => i % step === 0);
}

function under(event, svg) {
  const box = svg.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * W, ((event.clientY - box.top) / box.height) * H];
}

function pathFigure({ chunks, chapters }) {
  const x = scale(chunks.map((p) => p.x), PAD, W - PAD);
  const y = scale(chunks.map((p) => p.y), H - PAD, PAD);
  const at = chunks.map((p) => [x(p.x), y(p.y)]);
  const svg = frame(`The path of ${chunks.length} passages`);
  chapters.forEach((c, i) => {
    const to = (chapters[i + 1]?.chunk ?? chunks.length - 1) + 1;
    const part = at.slice(c.chunk, to).map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
    svg.append(s("polyline", { points: part, class: `way w${Math.floor((i / chapters.length) * 5)}` }));
  });
  for (const c of ticks(chapters)) {
    const [a, b] = at[c.chunk];
    svg.append(s("circle", { cx: a, cy: b, r: 2.5, class: "tick" }), s("text", { x: a + 5, y: b - 4 }, String(c.chapter)));
  }
  const dot = s("circle", { r: 6, class: "dot", visibility: "hidden" });
  svg.append(dot);
  return {
    svg,
    mark: (i) => move(dot, { cx: at[i][0], cy: at[i][1] }),
    nearest: (event) => {
      const [a, b] = under(event, svg);
      let best = 0;
      at.forEach(([p, q], i) => {
        if ((p - a) ** 2 + (q - b) ** 2 < (at[best][0] - a) ** 2 + (at[best][1] - b) ** 2) best = i;
      });
      return best;
    },
  };
}

function feelingFigure({ chunks, chapters }) {
  const x = (i) => PAD + (i / Math.max(1, chunks.length - 1)) * (W - 2 * PAD);
  const all = chunks.flatMap((p) => [p.lexicon, p.embedding, 0]);
  const y = scale(all, H - PAD, PAD);
  const svg = frame("Sentiment by two measures");
  svg.append(s("line", { x1: PAD, x2: W - PAD, y1: y(0), y2: y(0), class: "zero" }), s("text", { x: 2, y: PAD - 8 }, "glad"), s("text", { x: 2, y: H - PAD - 4 }, "sad"));
  for (const c of ticks(chapters)) {
    svg.append(s("line", { x1: x(c.chunk), x2: x(c.chunk), y1: H - PAD, y2: H - PAD + 5, class: "zero" }), s("text", { x: x(c.chunk), y: H - PAD + 18, "text-anchor": "middle" }, String(c.chapter)));
  }
  for (const name of ["lexicon", "embedding"]) {
    svg.append(s("polyline", { class: `feeling ${name}`, points: chunks.map((p, i) => `${x(i).toFixed(1)},${y(p[name]).toFixed(1)}`).join(" ") }));
  }
  const line = s("line", { y1: PAD - 8, y2: H - PAD, class: "cursor", visibility: "hidden" });
  svg.append(line);
  return {
    svg,
    mark: (i) => move(line, { x1: x(i), x2: x(i) }),
    nearest: (event) => Math.round(((under(event, svg)[0] - PAD) / (W - 2 * PAD)) * (chunks.length - 1)),
  };
}

function move(mark, to) {
  mark.setAttribute("visibility", "visible");
  for (const [name, value] of Object.entries(to)) mark.setAttribute(name, value);
}
