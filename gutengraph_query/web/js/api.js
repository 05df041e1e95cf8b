// Asking the server: JSON, or events as they come. Knows the token, and which graph the page was made from.

import { h, show } from "./dom.js";

/** What the server refused, in its own words. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.error);
    this.status = status;
    this.problem = problem;
  }
}

const AWAY = { error: "The server does not answer.", remedy: "Start it again: `gutengraph serve`." };
const TOKEN = "gutengraph-token";
let version = null;

async function request(path, { method = "GET", body, accept = "application/json", signal } = {}) {
  const headers = { Accept: accept };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, AWAY);
  }
  notice(response);
  if (response.status === 401) {
    await askForToken();
    return request(path, { method, body, accept, signal });
  }
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => AWAY));
  return response;
}

/** The JSON at a path; `query` without its nullish values. */
export async function get(path, query = {}, signal) {
  return (await request(path + tail(query), { signal })).json();
}

function tail(query) {
  const given = Object.entries(query).filter(([, v]) => v !== null && v !== undefined && v !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

/** The JSON that comes of putting `body` at a path. */
export async function put(path, body, signal) {
  return (await request(path, { method: "PUT", body, signal })).json();
}

/** The JSON that comes of taking out what `query` says from a path. */
export async function remove(path, query, signal) {
  return (await request(path + tail(query), { method: "DELETE", signal })).json();
}

/** `gutengraph review` gives its token behind the '#' of the address: keep it for this tab, and out of sight. */
export function takeToken() {
  const given = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (!given) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    sessionStorage.setItem(TOKEN, decodeURIComponent(given));
  } catch (error) {
    if (!(error instanceof URIError)) throw error; // an address that was cut or mistyped: the page asks for the token
  }
}

/** Yields `{event, data}` of a streamed answer. */
export async function* events(path, body, signal) {
  const response = await request(path, { method: "POST", body, accept: "text/event-stream", signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refused(0, { error: "The connection broke off.", remedy: "Ask again." });
    }
    held += part.value ?? "";
    const blocks = held.split("\n\n");
    held = blocks.pop();
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (event) yield { event, data: JSON.parse(data) };
    }
    if (part.done) return;
  }
}

/** A word above the page when the graph it was made from is no longer the newest. */
function notice(response) {
  const now = Number(response.headers.get("X-Graph-Version"));
  if (version === null || version === 0) version = now;
  else if (now > version) {
    const reload = h("button", { onclick: () => location.reload() }, "Reload");
    show(document.getElementById("notice"), h("p", {}, "A newer graph was published. ", reload));
  }
}

/** Look now and then whether a newer graph was published while the page is read. */
export function watch(everyMs = 20_000) {
  setInterval(() => {
    if (!document.hidden) fetch("/assets/icon.svg", { method: "HEAD" }).then(notice, () => {});
  }, everyMs);
}

let asking = null;

/** One form for all requests that wait for the token. */
function askForToken() {
  asking ??= new Promise((resolve) => {
    const field = h("input", { type: "password", required: true, autocomplete: "off", "aria-label": "Token" });
    const done = (event) => {
      event.preventDefault();
      sessionStorage.setItem(TOKEN, field.value);
      show(document.getElementById("notice"));
      asking = null;
      resolve();
    };
    const words = "This server wants its token (GUTENGRAPH_API_TOKEN). ";
    show(
      document.getElementById("notice"),
      h("form", { class: "token", onsubmit: done }, h("label", {}, words, field), h("button", {}, "Go on")),
    );
    field.focus();
  });
  return asking;
}
