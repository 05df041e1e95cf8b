// Which screen an address is, and the keys that work everywhere.

import { takeToken, watch } from "./api.js";
import { main, show, skeleton } from "./dom.js";
import { closeDrawer } from "./drawer.js";

const SCREENS = [
  [/^\/(?:books\/?)?$/, "shelf", () => import("./shelf.js")],
  [/^\/books\/(\d+)\/?$/, "shelf", () => import("./book.js")],
  [/^\/(?:ask|compare)\/?$/, "ask", () => import("./ask.js")],
  [/^\/passages\/(\d+)\/(\d+)\/?$/, "shelf", () => import("./passage.js")],
  [/^\/review\/(\d+)\/?$/, "shelf", () => import("./review.js")],
  [/^\/health-page\/?$/, "health", () => import("./health.js")],
];

let leave = null;

async function open() {
  leave?.abort();
  leave = new AbortController();
  const { signal } = leave;
  closeDrawer();
  document.getElementById("tip").hidden = true;
  const screen = SCREENS.find(([address]) => address.test(location.pathname));
  for (const link of document.querySelectorAll("nav [data-screen]")) {
    if (link.dataset.screen === screen?.[1]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  show(main(), skeleton());
  const [address, , load] = screen;
  const shown = await load();
  if (!signal.aborted) await shown.open(address.exec(location.pathname).slice(1).map(Number), signal);
}

/** Go to an address of this page without loading it anew. */
export function go(url, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", url);
  return open();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (event.defaultPrevented || !link || !plain || link.hasAttribute("download") || link.target) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || url.pathname.startsWith("/assets/")) return;
  if (url.pathname === location.pathname && url.search === location.search && url.hash) return;
  event.preventDefault();
  go(url.href).then(() => scrollTo(0, 0));
});

document.addEventListener("keydown", (event) => {
  const writing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === "Escape") {
    document.getElementById("tip").hidden = true;
    if (!closeDrawer() && writing) event.target.blur();
  }
  if (writing || event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    const field = document.querySelector("[data-main-field]");
    if (field) field.focus();
    else go("/ask").then(() => document.querySelector("[data-main-field]")?.focus());
  }
});

addEventListener("popstate", open);
takeToken();
watch();
open();
