// The leaf that slides in beside the text: a passage, or a person. Escape closes it and gives the focus back.

import { h, show } from "./dom.js";

const drawer = () => document.getElementById("drawer");
let before = null;

/** Show `content` under `title`. */
export function openDrawer(title, ...content) {
  const leaf = drawer();
  if (leaf.hidden) before = document.activeElement;
  const close = h("button", { class: "close", "aria-label": "Close", title: "Close (Escape)", onclick: closeDrawer }, "×");
  show(leaf, h("header", {}, h("h2", {}, title), close), h("div", { class: "leaf" }, content));
  leaf.setAttribute("aria-label", title);
  leaf.hidden = false;
  leaf.scrollTop = 0;
  leaf.focus({ preventScroll: true });
}

/** Whether there was something to close. */
export function closeDrawer() {
  const leaf = drawer();
  if (leaf.hidden) return false;
  leaf.hidden = true;
  show(leaf);
  if (before?.isConnected) before.focus({ preventScroll: true });
  return true;
}
