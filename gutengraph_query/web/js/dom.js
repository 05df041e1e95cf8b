// Building the page from nodes. There is no way here to hand text over as markup: strings become text nodes.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `h("a", {href, class, onclick, data: {…}}, "text", node, …)`. Nullish children are left out. */
export function h(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s(tag, props = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "value" || name === "checked" || name === "disabled") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
  return node;
}

export const main = () => document.getElementById("main");

/** Replace what `place` holds. */
export function show(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

export const number = (n) => n.toLocaleString("en");

export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** `first_mate_of` in words. */
export const inWords = (type) => type.replace("_or_", " or ").replaceAll("_", " ");

/** Authors as people say them: 'Austen, Jane' is 'Jane Austen'. */
export function people(authors) {
  const turned = authors.map((a) => (/^[^,]+, [^,]+$/.test(a) ? a.split(", ").reverse().join(" ") : a));
  return turned.length > 2 ? `${turned.slice(0, 2).join(", ")} and others` : turned.join(" and ");
}

export function skeleton(lines = 4) {
  const widths = ["wide", "", "", "short"];
  const bars = Array.from({ length: lines }, (_, i) => h("i", { class: widths[i % 4] }));
  return h("div", { class: "skeleton", "aria-hidden": "true" }, bars);
}

/** A failure: what, and what to do, with the commands in it set as code. */
export function failure(problem, retry) {
  return h(
    "div",
    { class: "failure", role: "alert" },
    h("p", {}, h("strong", {}, withCode(problem.error))),
    problem.remedy ? h("p", {}, withCode(problem.remedy)) : null,
    problem.fields?.length ? h("ul", {}, problem.fields.map((f) => h("li", {}, f))) : null,
    retry ? h("button", { onclick: retry }, "Try again") : null,
  );
}

/** Text with `commands` in backticks set as code. */
export function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
}

/** A book's words, _italics_ as such. */
export function prose(text) {
  return text.split(/_([^_]+)_/).map((part, i) => (i % 2 ? h("em", {}, part) : part));
}

/** An address of a passage, with what is marked and how far the reader has read. */
export function passageUrl({ book, start, end }, upTo) {
  const query = new URLSearchParams();
  if (end) query.set("end", end);
  if (upTo) query.set("up_to", upTo);
  return `/passages/${book}/${start}${query.size ? `?${query}` : ""}`;
}

/** Save a file that the page has made. */
export function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
