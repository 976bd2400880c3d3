// A policy as a drawing: tests from left to right, decisions at the ends. It is moved with the pointer or the arrow
// keys, and made larger by buttons, + and −, or the wheel with Ctrl.

import { h, s } from "./dom.js";
import { cost, number, percent, scaled } from "./numbers.js";

const BOX = { width: 190, height: 66, right: 116, below: 16 };
const LARGEST = 3;

/** Lay a tree out: each node with its place, its path of known outcomes, and its parent. */
export function laidOut(root, folded) {
  const nodes = [];
  let row = 0;
  const visit = (node, depth, path, parent, label) => {
    const children = folded.has(keyOf(path)) ? [] : Object.entries(node.children ?? {});
    const own = { node, depth, path, parent, label, key: keyOf(path), x: depth * (BOX.width + BOX.right), children: [] };
    nodes.push(own);
    for (const [outcome, child] of children) own.children.push(visit(child, depth + 1, [...path, [node.test, outcome]], own, outcome));
    own.y = own.children.length ? (own.children[0].y + own.children.at(-1).y) / 2 : row++ * (BOX.height + BOX.below);
    return own;
  };
  visit(root, 0, [], null, null);
  return nodes;
}

export const keyOf = (path) => JSON.stringify(path);
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const decisionOf = ({ decision }) => (typeof decision === "object" ? Object.values(decision).join(", ") : decision);

/** What the plan does at a node: where the drawing ends and the plan goes on, its next test. */
export const testOf = (node) => node.test ?? node.goes_on;
export const actionOf = (node) => testOf(node) ?? decisionOf(node);

/** A drawing of a tree in a place; `chosen` is called with the node that somebody chooses. */
export class Drawing {
  constructor({ decisions, unit, price, chosen }) {
    Object.assign(this, { decisions, unit, price, chosen, folded: new Set(), selected: null });
    this.layer = s("g", {});
    this.svg = s("svg", { class: "tree", role: "group", "aria-label": "The policy as a tree. Arrow keys go from node to node, Enter asks what if." }, this.layer);
    this.view = { x: 0, y: 0, scale: 1 };
    this.pointers = new Map();
    this.listen();
  }

  draw(root) {
    this.root = root ?? this.root;
    this.nodes = laidOut(this.root, this.folded);
    this.layer.replaceChildren(...this.nodes.filter((node) => node.parent).map((node) => this.edge(node)), ...this.nodes.map((node) => this.box(node)));
    const there = this.nodes.some((node) => node.key === this.selected);
    this.mark(there ? this.selected : this.nodes[0].key);
  }

  edge({ parent, x, y, node, label }) {
    const from = [parent.x + BOX.width, parent.y + BOX.height / 2];
    const to = [x, y + BOX.height / 2];
    const middle = from[0] + BOX.right * 0.36;
    const share = parent.node.probability > 0 ? node.probability / parent.node.probability : 0;
    const line = s("path", { class: "edge", "stroke-width": (1 + 7 * Math.sqrt(Math.min(1, node.probability))).toFixed(1), d: `M${from}C${middle},${from[1]} ${middle},${to[1]} ${to}` });
    const text = s("text", { class: "edge-name", x: to[0] - 8, y: to[1] - 6, "text-anchor": "end" }, short(label, 14));
    const part = s("text", { class: "edge-share", x: to[0] - 8, y: to[1] + 14, "text-anchor": "end" }, percent(share));
    return s("g", { "aria-hidden": "true" }, line, text, part);
  }

  box(own) {
    const { node, x, y, key } = own;
    const name = actionOf(node);
    const test = testOf(node);
    const which = test ? `test${node.goes_on ? " cut" : ""}` : `decision d${Math.max(0, this.decisions.indexOf(node.decision)) % 5}`;
    const facts = [`value ${number(scaled(node.expected ?? node.value, this.unit)[0])}`, percent(node.probability)];
    const below = [test ? cost(this.price(own), this.unit) : "", node.subjects === undefined ? "" : `${number(node.subjects)} subjects`].filter(Boolean);
    const folds = this.folded.has(key) ? " · folded" : node.goes_on ? " · goes on" : "";
    const mark = folds && " · …";
    const way = own.path.map(([test, outcome]) => `${test} ${outcome}`).join(", ") || "nothing known";
    const group = s("g", { class: `node ${which}`, transform: `translate(${x},${y})`, tabindex: "-1", role: "button", "aria-label": `${way}: ${test ? "test" : "decide"} ${name}, ${facts.join(", ")}${below.length ? `, ${below.join(", ")}` : ""}${folds}`, dataset: { key } },
      s("rect", { width: BOX.width, height: BOX.height, rx: test ? 8 : 33 }),
      s("text", { class: "name", x: BOX.width / 2, y: 22 }, short(name, 20)),
      s("text", { x: BOX.width / 2, y: 40 }, facts.join(" · ")),
      s("text", { x: BOX.width / 2, y: 56 }, below.join(" · ") + mark));
    group.addEventListener("click", () => { if (!this.moved) this.choose(own); });
    group.addEventListener("keydown", (event) => this.key(event, own));
    return group;
  }

  /** Mark a node as the one that has the focus, and is asked about. */
  mark(key) {
    this.selected = key;
    for (const group of this.layer.querySelectorAll(".node")) {
      const own = group.dataset.key === key;
      group.setAttribute("tabindex", own ? "0" : "-1");
      group.setAttribute("aria-pressed", String(own));
      group.classList.toggle("selected", own);
    }
  }

  choose(own) {
    this.mark(own.key);
    this.show(own);
    this.chosen(own);
  }

  key(event, own) {
    const siblings = own.parent?.children ?? [own];
    const column = this.nodes.filter((each) => each.depth === own.depth).sort((one, other) => one.y - other.y);
    const next = {
      ArrowRight: own.children[Math.floor((own.children.length - 1) / 2)], ArrowLeft: own.parent,
      ArrowDown: column[column.indexOf(own) + 1], ArrowUp: column[column.indexOf(own) - 1], Home: this.nodes[0], End: siblings.at(-1),
    }[event.key];
    if (next) this.go(next);
    else if (event.key === "Enter" || event.key === " ") this.choose(own);
    else if (event.key === "f") this.fold(own);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
  }

  go(own) {
    this.mark(own.key);
    this.show(own);
    this.layer.querySelector(`[data-key="${CSS.escape(own.key)}"]`).focus({ preventScroll: true });
  }

  /** Fold what comes after a node, or unfold it. */
  fold(own) {
    if (!own.node.children) return;
    if (!this.folded.delete(own.key)) this.folded.add(own.key);
    this.draw();
    this.layer.querySelector(`[data-key="${CSS.escape(own.key)}"]`)?.focus({ preventScroll: true });
  }

  /** Make all of it seen; no smaller than it can be read, unless somebody asks for it. */
  fit(least = this.svg.clientWidth < 480 ? 0.9 : 0.65) {
    const { clientWidth: width, clientHeight: height } = this.svg;
    const right = Math.max(...this.nodes.map((node) => node.x)) + BOX.width;
    const low = Math.max(...this.nodes.map((node) => node.y)) + BOX.height;
    const scale = Math.max(least, Math.min(1, (width - 24) / right, (height - 24) / low));
    const start = this.nodes[0].y + BOX.height / 2;
    this.place({ x: right * scale < width ? (width - right * scale) / 2 : 12, y: low * scale < height ? (height - low * scale) / 2 : height / 2 - start * scale, scale });
  }

  /** Bring a node into sight. */
  show({ x, y }) {
    const { clientWidth: width, clientHeight: height } = this.svg;
    const { scale } = this.view;
    const inside = (at, size, room, edge = 30) => Math.min(Math.max(at, edge), Math.max(edge, room - size - edge));
    const left = x * scale + this.view.x;
    const top = y * scale + this.view.y;
    this.place({ scale, x: this.view.x + inside(left, BOX.width * scale, width) - left, y: this.view.y + inside(top, BOX.height * scale, height) - top });
  }

  zoom(factor, at = [this.svg.clientWidth / 2, this.svg.clientHeight / 2]) {
    const scale = Math.min(LARGEST, Math.max(0.05, this.view.scale * factor));
    const change = scale / this.view.scale;
    this.place({ scale, x: at[0] - (at[0] - this.view.x) * change, y: at[1] - (at[1] - this.view.y) * change });
  }

  place(view) {
    this.view = view;
    this.layer.setAttribute("transform", `translate(${view.x.toFixed(1)},${view.y.toFixed(1)}) scale(${view.scale.toFixed(4)})`);
  }

  listen() {
    const { svg } = this;
    const at = (event) => { const box = svg.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), at(event));
    }, { passive: false });
    svg.addEventListener("pointerdown", (event) => { this.pointers.set(event.pointerId, at(event)); this.moved = false; });
    svg.addEventListener("pointermove", (event) => {
      const before = this.pointers.get(event.pointerId);
      if (!before) return;
      const now = at(event);
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) this.zoom(Math.hypot(now[0] - other[0], now[1] - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1])), other);
      else if (this.moved || Math.hypot(now[0] - before[0], now[1] - before[1]) > 4) {
        if (!this.moved) svg.setPointerCapture(event.pointerId);
        this.moved = true;
        this.place({ ...this.view, x: this.view.x + now[0] - before[0], y: this.view.y + now[1] - before[1] });
      } else return;
      this.pointers.set(event.pointerId, now);
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) svg.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
  }

  /** The buttons beside the drawing. */
  tools() {
    const button = (text, name, work) => h("button", { type: "button", class: "small", "aria-label": name, onclick: work }, text);
    return h("div", { class: "tools" },
      button("+", "Larger", () => this.zoom(1.3)), button("−", "Smaller", () => this.zoom(1 / 1.3)), button("All", "Show all of it", () => this.fit(0.05)));
  }
}
