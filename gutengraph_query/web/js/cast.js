// The cast as a table: who, also called, and where in the book.

import { count, h, number, s, show } from "./dom.js";

const FIRST = 12;

/** A spark line: one bar a chapter, as high as there are mentions in it. */
export function spark(chapters, total, { width = 120, height = 24 } = {}) {
  const most = Math.max(1, ...chapters.map(([, n]) => n));
  const step = width / Math.max(1, total);
  const bar = Math.max(0.75, Math.min(4, step * 0.72));
  const bars = chapters.map(([chapter, n]) => {
    const tall = Math.max(1.5, (height - 1) * Math.sqrt(n / most));
    return s("rect", { x: (chapter - 0.5) * step - bar / 2, y: height - 1 - tall, width: bar, height: tall });
  });
  const last = chapters.at(-1)?.[0] ?? 0;
  const label = chapters.length ? `In ${count(chapters.length, "chapter")}, from ${chapters[0][0]} to ${last}` : "In no chapter";
  return s(
    "svg",
    { class: "spark", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
    s("line", { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }),
    bars,
  );
}

/** Rows for people; `chosen(person)` when a name is clicked. */
export function castTable(people, chapters, chosen) {
  const cast = people.filter((p) => p.standing === "cast");
  const mentioned = people.filter((p) => p.standing !== "cast");
  const body = h("tbody");
  const whole = h("div", { class: "wide-table" });
  const more = h("button", { class: "quiet-button", onclick: () => fill(cast.length) }, `Show all ${cast.length}`);
  const fill = (n) => {
    show(body, cast.slice(0, n).map((p) => row(p, chapters, chosen)));
    more.hidden = n >= cast.length;
  };
  fill(FIRST);
  const heads = [["Name"], ["Role", "role"], ["Mentions", "num"], ["By chapter", "where"]];
  show(
    whole,
    h("table", { class: "cast" }, h("thead", {}, h("tr", {}, heads.map(([t, c]) => h("th", { scope: "col", class: c }, t)))), body),
    more,
    mentioned.length
      ? h("details", { class: "more" }, h("summary", {}, `${count(mentioned.length, "person is", "people are")} only mentioned`), h("p", {}, mentioned.flatMap((p, i) => [i ? ", " : "", nameButton(p, chosen)])))
      : "",
  );
  return whole;
}

function row(person, chapters, chosen) {
  const others = person.aliases.filter((a) => a !== person.name);
  const shown = others.slice(0, 3).join(", ") + (others.length > 3 ? ` +${others.length - 3} more` : "");
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, nameButton(person, chosen), shown ? h("span", { class: "aliases" }, shown) : null),
    h("td", { class: "role" }, person.role ?? ""),
    h("td", { class: "num" }, number(person.mentions)),
    h("td", { class: "where" }, spark(person.chapters, chapters)),
  );
}

export function nameButton(being, chosen) {
  return h("button", { class: `name kind ${being.label.toLowerCase()}`, onclick: () => chosen(being.id) }, being.name);
}
