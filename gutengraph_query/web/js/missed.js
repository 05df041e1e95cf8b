// Whom the build lacks: the reviewer adds them, so that the gold is not only what the build found.

import { put, remove } from "./api.js";
import { failure, h, show } from "./dom.js";

/** The list with its form; `counted` gets the server's answer. */
export function missedPart(review, signal, counted) {
  const list = h("ul", { class: "missed-list" });
  const said = h("div", {});
  const name = h("input", { type: "search", required: true, maxlength: 100, placeholder: "A name as the book has it", "aria-label": "Name of somebody missed" });
  const others = h("input", { type: "search", placeholder: "Other names; so divided", "aria-label": "Other names" });
  const importance = h("select", { "aria-label": "How important" }, ["major", "intermediate", "minor"].map((word) => h("option", { value: word }, word)));
  importance.value = "minor";

  const address = `/books/${review.book}/review/missed`;
  /** One entry at a time: what another tab added stays. */
  const change = async (asking) => {
    try {
      const found = await asking;
      review.missed = found.missed;
      counted(found);
      show(said);
      draw();
      return true;
    } catch (error) {
      if (error.name !== "AbortError") show(said, failure(error.problem));
      return false;
    }
  };
  const draw = () => {
    const row = (one) => h("li", {}, [one.name, ...one.aliases].join(", "), h("span", { class: "quiet" }, ` ${one.importance} `), h("button", { class: "quiet-button", "aria-label": `Take ${one.name} out`, onclick: () => change(remove(address, { name: one.name }, signal)) }, "take out"));
    show(list, review.missed.map(row));
  };
  const add = async (event) => {
    event.preventDefault();
    const aliases = others.value.split(";").map((alias) => alias.trim()).filter(Boolean);
    const kept = await change(put(address, { name: name.value.trim(), aliases, importance: importance.value }, signal));
    if (kept) name.value = others.value = "";
  };
  draw();
  const form = h("form", { class: "bar", onsubmit: add }, name, others, importance, h("button", {}, "Add"));
  return h("details", { class: "more missed", open: review.missed.length > 0 }, h("summary", {}, "Is somebody missing from the cast?"), list, form, said);
}
