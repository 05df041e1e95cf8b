// The network of a book: who is related to whom up to a chapter. Positions are set once and kept.

import { count, h, inWords, number, save, show } from "./dom.js";
import { chapterName, relation } from "./person.js";

const FIRST = 60;
const STEP_MS = 700;

/** The figure and its list view. `choose(id)` when a node is clicked. */
export function networkFigure(network, book, upTo, choose, signal) {
  if (!network.nodes.length) return h("p", { class: "quiet" }, "There is nobody to draw yet.");
  const last = upTo ?? Math.max(1, ...book.chapters.map((c) => c.index));
  const canvas = h("div", { class: "canvas", role: "img", "aria-label": `Network of ${count(network.nodes.length, "node")}; the list below holds the same` });
  const slider = h("input", { type: "range", min: 1, max: last, value: last, "aria-label": "Chapter" });
  const told = h("output", { class: "told" });
  const play = h("button", { "aria-label": "Play chapter by chapter" }, "▶ Play");
  const search = h("input", { type: "search", placeholder: "Find a name", "aria-label": "Find a name in the network", list: "names" });
  const names = h("datalist", { id: "names" }, network.nodes.map((n) => h("option", { value: n.name })));
  const company = h("input", { type: "checkbox", checked: true });
  const more = h("button", {}, "Show more");
  const png = h("button", {}, "PNG");
  const json = h("button", { onclick: () => save(`network-${book.id}.json`, new Blob([JSON.stringify(network, null, 1)], { type: "application/json" })) }, "JSON");
  const hint = h("p", { class: "edge-said", "aria-live": "polite" });
  const list = h("div");
  const figure = h(
    "figure",
    { class: "network" },
    h("div", { class: "bar" }, play, h("label", { class: "slide" }, slider, told)),
    h("div", { class: "stage" }, canvas, hint),
    h("div", { class: "bar" }, search, names, h("label", { class: "check" }, company, " company kept"), h("span", { class: "push" }), more, png, json),
    legend(),
    h("details", { class: "more", ontoggle: () => fillList() }, h("summary", {}, "The same as a list"), list),
  );
  const fillList = () => show(list, asList(network, book, upTo, Number(slider.value)));

  const begin = async () => {
    const { default: cytoscape } = await import("/assets/vendor/cytoscape/cytoscape.esm.min.mjs");
    if (signal.aborted) return;
    const drawn = new Drawing(cytoscape, canvas, network, { choose, hint });
    signal.addEventListener("abort", () => drawn.destroy());
    const step = () => {
      drawn.upTo(Number(slider.value), company.checked);
      const shown = drawn.shown();
      show(told, `${chapterName(book, Number(slider.value))}: ${count(shown.nodes, "node")}, ${count(shown.edges, "relation")}`);
      Object.assign(canvas.dataset, { nodes: shown.nodes, edges: shown.edges });
      if (list.childElementCount) fillList();
    };
    const showMore = () => {
      more.hidden = drawn.more(FIRST);
      step();
    };
    more.addEventListener("click", showMore);
    slider.addEventListener("input", step);
    company.addEventListener("change", step);
    search.addEventListener("change", () => drawn.centre(search.value, (all) => (more.hidden = all)) && step());
    png.addEventListener("click", () => save(`network-${book.id}.png`, drawn.png()));
    play.addEventListener("click", () => playing(play, slider, step, signal));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.colour(), { signal });
    showMore();
    canvas.dataset.ready = "true";
    canvas.drawing = drawn; // for whoever looks at the page from outside: positions must not change between steps
  };
  new IntersectionObserver((seen, watcher) => {
    if (seen.some((s) => s.isIntersecting)) {
      watcher.disconnect();
      begin();
    }
  }, { rootMargin: "400px" }).observe(canvas);
  return figure;
}

function playing(button, slider, step, signal) {
  if (button.timer) {
    clearInterval(button.timer);
    button.timer = null;
    button.textContent = "▶ Play";
    return;
  }
  if (Number(slider.value) >= Number(slider.max)) slider.value = slider.min;
  else slider.stepUp();
  step();
  button.textContent = "❚❚ Stop";
  button.timer = setInterval(() => {
    slider.stepUp();
    step();
    if (Number(slider.value) >= Number(slider.max)) playing(button, slider, step, signal);
  }, STEP_MS);
  signal.addEventListener("abort", () => clearInterval(button.timer));
}

class Drawing {
  constructor(cytoscape, container, network, { choose, hint }) {
    this.network = network;
    this.chapter = Infinity;
    this.count = 0;
    this.cy = cytoscape({ container, minZoom: 0.2, maxZoom: 4, boxSelectionEnabled: false, style: styles() });
    this.cy.on("tap", "node", (event) => choose(event.target.id()));
    this.cy.on("mouseover", "edge", (event) => show(hint, said(event.target)));
    this.cy.on("mouseout", "edge", () => show(hint));
    this.cy.on("tap", "edge", (event) => choose(event.target.source().id()));
    this.cy.on("mouseover", "node", ({ target }) => this.near(target));
    this.cy.on("mouseout", "node", () => this.cy.elements().removeClass("far near"));
  }

  /** Draw `n` nodes more; whether all are drawn now. Those that stand stay where they are. */
  more(n) {
    const before = this.cy.nodes();
    this.count = Math.min(this.network.nodes.length, this.count + n);
    const nodes = this.network.nodes.slice(0, this.count);
    const known = new Set(nodes.map((x) => x.id));
    const most = Math.max(...this.network.nodes.map((x) => x.mentions), 1);
    const fresh = nodes.filter((x) => this.cy.getElementById(x.id).empty());
    const place = (i) => ({ x: 340 * Math.sqrt((i + 1) / this.count) * Math.cos(i * 2.4), y: 240 * Math.sqrt((i + 1) / this.count) * Math.sin(i * 2.4) });
    const drawn = new Set(this.cy.edges().map((e) => e.id()));
    this.cy.add([
      ...fresh.map((x) => ({ group: "nodes", data: { ...x, size: 14 + 34 * Math.sqrt(x.mentions / most) }, position: place(nodes.indexOf(x)), classes: x.label.toLowerCase() })),
      ...pairs(this.network.edges).filter((e) => known.has(e.source) && known.has(e.target) && !drawn.has(e.id)).map((e) => ({ group: "edges", data: e, classes: e.stated ? "relation stated" : "relation likely" })),
      ...this.network.together.filter((t) => known.has(t.a) && known.has(t.b) && !drawn.has(`${t.a}+${t.b}`)).map((t) => ({ group: "edges", data: { id: `${t.a}+${t.b}`, source: t.a, target: t.b, ...t }, classes: "together" })),
    ]);
    before.lock();
    this.cy.layout({
      name: "cose", animate: false, randomize: false, fit: true, padding: 24, numIter: 1500, nodeRepulsion: () => 14000, nodeOverlap: 12, componentSpacing: 48, gravity: 0.5,
      idealEdgeLength: (edge) => (edge.hasClass("together") ? 90 : 64), edgeElasticity: (edge) => (edge.hasClass("together") ? 160 : 60),
    }).run();
    before.unlock();
    if (before.empty()) this.stretch();
    this.cy.fit(undefined, 24);
    return this.count >= this.network.nodes.length;
  }

  /** As wide or as tall as the canvas is: a layout comes out round. */
  stretch() {
    const { w, h } = this.cy.nodes().boundingBox({ includeLabels: false });
    const wanted = (this.cy.width() / this.cy.height()) / (w / h || 1);
    const [x, y] = [Math.max(1, Math.min(2.2, wanted)), Math.max(1, Math.min(1.6, 1 / wanted))];
    this.cy.nodes().positions((n) => ({ x: n.position("x") * x, y: n.position("y") * y }));
  }

  /** Show what chapter `chapter` has told. Nothing moves. */
  upTo(chapter, company) {
    this.cy.batch(() => {
      this.cy.nodes().forEach((n) => n.toggleClass("later", n.data("chapters")[0]?.[0] > chapter));
      this.cy.edges(".relation").forEach((e) => e.toggleClass("later", e.data("chapter") > chapter));
      this.cy.edges(".together").forEach((e) => {
        const shared = e.data("chapters").reduce((sum, [c, n]) => sum + (c <= chapter ? n : 0), 0);
        e.toggleClass("later", !company || shared < 2);
      });
    });
  }

  shown() {
    return { nodes: this.cy.nodes().not(".later").length, edges: this.cy.edges(".relation").not(".later").length };
  }

  /** Bring a name to the middle. */
  centre(name, all) {
    const wanted = this.network.nodes.findIndex((n) => n.name === name || n.aliases.includes(name));
    if (wanted < 0) return false;
    if (wanted >= this.count) all(this.more(wanted + 1 - this.count));
    const node = this.cy.getElementById(this.network.nodes[wanted].id);
    this.cy.elements().unselect();
    node.select();
    this.cy.animate({ center: { eles: node }, zoom: 1.4 }, { duration: 250 });
    return true;
  }

  near(node) {
    const close = node.closedNeighborhood().not(".later");
    this.cy.elements().not(close).addClass("far");
    close.addClass("near");
  }

  positions() {
    return Object.fromEntries(this.cy.nodes().map((n) => [n.id(), n.position()]));
  }

  png() {
    return this.cy.png({ output: "blob", full: true, scale: 2, bg: colour("--paper") });
  }

  colour() {
    this.cy.style(styles());
  }

  destroy() {
    this.cy.destroy();
  }
}

/** Relations of one pair that read the same way share a line. */
function pairs(edges) {
  const found = new Map();
  for (const e of edges) {
    const id = `${e.source}>${e.target}`;
    const same = found.get(id);
    if (!same) found.set(id, { id, ...e, type: inWords(e.type), told: [e] });
    else {
      same.told.push(e);
      same.type = [...new Set(same.told.map((t) => inWords(t.type)))].join(", ");
      same.chapter = Math.min(same.chapter, e.chapter);
      same.stated ||= e.stated;
    }
  }
  return [...found.values()];
}

function said(edge) {
  if (edge.hasClass("together")) return `Together in ${count(edge.data("passages"), "passage")}`;
  return edge.data("told").map((t) => `${t.a} ${inWords(t.type)} ${t.b} (${t.stated ? "stated" : "likely"})`).join("; ");
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function styles() {
  const font = "system-ui, sans-serif";
  const kind = (name, shape) => ({ selector: `node.${name}`, style: { shape, "background-color": colour(`--${name}`), "border-color": colour(`--${name}`) } });
  return [
    { selector: "node", style: { width: "data(size)", height: "data(size)", label: "data(name)", color: colour("--ink"), "font-family": font, "font-size": 11, "text-valign": "bottom", "text-margin-y": 3, "text-outline-color": colour("--paper"), "text-outline-width": 2, "min-zoomed-font-size": 7, "border-width": 0, "background-opacity": 0.9 } },
    kind("character", "ellipse"),
    kind("location", "round-rectangle"),
    kind("object", "diamond"),
    kind("event", "star"),
    { selector: "node:selected", style: { "border-width": 4, "border-color": colour("--accent") } },
    { selector: "edge", style: { "curve-style": "bezier", width: 1, "line-color": colour("--line-strong"), "target-arrow-shape": "none" } },
    { selector: "edge.together", style: { "line-color": colour("--line"), width: "mapData(passages, 2, 40, 0.8, 4)", "curve-style": "straight", "z-index": 0 } },
    { selector: "edge.relation", style: { "line-color": colour("--accent"), width: 2, "z-index": 1 } },
    { selector: "edge.likely", style: { "line-style": "dashed", opacity: 0.8 } },
    { selector: "edge.relation.near", style: { label: "data(type)", color: colour("--ink"), "font-family": font, "font-size": 10, "text-rotation": "autorotate", "text-background-color": colour("--paper"), "text-background-opacity": 0.9, "text-background-padding": 2 } },
    { selector: ".far", style: { opacity: 0.18 } },
    { selector: ".later", style: { display: "none" } },
  ];
}

function legend() {
  const mark = (name, words) => h("li", {}, h("i", { class: `mark ${name}` }), words);
  return h("ul", { class: "legend" }, mark("character", "person"), mark("location", "place"), mark("object", "thing"), mark("event", "event"), mark("stated", "stated"), mark("likely", "likely"), mark("together", "in the same passages"));
}

function asList(network, book, upTo, chapter) {
  const edges = network.edges.filter((e) => e.chapter <= chapter);
  if (!edges.length) return h("p", { class: "quiet" }, "No relation has been told by then.");
  return [h("p", { class: "figures" }, `${number(edges.length)} relations up to ${chapterName(book, chapter)}`), h("ul", { class: "relations" }, edges.map((e) => relation(e, book, upTo)))];
}
