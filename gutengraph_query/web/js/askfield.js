// The field for a question, with three that the books at hand can answer.

import { get } from "./api.js";
import { h, show } from "./dom.js";
import { go } from "./main.js";

/** The address of a question. */
export function questionUrl({ q, mode, book, author, kind, upTo }) {
  const query = new URLSearchParams({ q });
  if (mode && mode !== "compare") query.set("mode", mode);
  if (book !== null && book !== undefined && book !== "") query.set("book", book);
  if (author) query.set("author", author);
  if (kind) query.set("kind", kind);
  if (upTo) query.set("up_to", upTo);
  return `${mode === "compare" ? "/compare" : "/ask"}?${query}`;
}

/** A form. `settings()` tells mode, chapter and which books when it is sent; the field begins with `q`. */
export function askField({ q = "", settings = () => ({}), signal, book = null, upTo = null }) {
  const field = h("input", {
    type: "search",
    name: "q",
    value: q,
    required: true,
    maxlength: 1000,
    placeholder: "Who is who? Where does it say so?",
    "aria-label": "Your question",
    autocomplete: "off",
    enterkeyhint: "search",
    "data-main-field": true,
  });
  const examples = h("ul", { class: "examples", "aria-label": "Examples" });
  const send = (event) => {
    event?.preventDefault();
    if (field.value.trim()) go(questionUrl({ q: field.value.trim(), ...settings() }));
  };
  const fill = (asked, chapter) =>
    get("/examples", { book: asked, up_to: chapter }, signal).then(
      (found) => {
        const chips = found.map((text) => {
          const take = () => {
            field.value = text;
            send();
          };
          return h("li", {}, h("button", { type: "button", class: "example", onclick: take }, text));
        });
        show(examples, chips);
      },
      () => {}, // examples are a courtesy: the field works without them
    );
  fill(book, upTo);
  const form = h("form", { class: "askfield", role: "search", onsubmit: send }, field, h("button", { class: "primary" }, "Ask"));
  const whole = h("div", { class: "asking" }, form, examples);
  whole.fill = fill;
  return whole;
}
