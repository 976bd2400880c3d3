// Drawings of numbers over time. They are drawn for the width that they have, say what they show in words, and come
// with a table.

import { fill, fresh, h, s } from "./dom.js";
import { number } from "./numbers.js";

const HEIGHT = 240;
const EDGE = { left: 56, right: 16, top: 14, bottom: 34 };

/** Return steps that people count in, from 0 to a number or more. */
export function ticks(highest, wanted = 4) {
  const rough = highest > 0 ? highest / wanted : 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough - 1e-12);
  return Array.from({ length: Math.ceil(highest / step - 1e-9) + 1 }, (_, i) => i * step);
}

/** Return a figure of values over subjects: `points` are {from, to, value}, `level` a line that they are held against. */
export function lineChart({ title, points, name, level, xTitle, format = number, kind = "one" }) {
  const said = describe({ points, name, level, format });
  const place = h("div", { class: "plot" });
  const draw = () => fill(place, drawing({ place, points, name, level, xTitle, format, kind, said, title }));
  new ResizeObserver(draw).observe(place);
  return h("figure", { class: "chart" },
    h("figcaption", {}, h("h2", {}, title)), place,
    h("details", {}, h("summary", {}, "As a table"),
      h("div", { class: "scroll table", tabindex: "0", role: "region", "aria-label": `${title}, as a table` }, h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, xTitle), h("th", { scope: "col", class: "number" }, name))),
        h("tbody", {}, points.map((point) => h("tr", {}, h("th", { scope: "row" }, span(point)), h("td", { class: "number" }, format(point.value)))))))));
}

const span = ({ from, to }) => (from === to ? number(from) : `${number(from)} to ${number(to)}`);

function describe({ points, name, level, format }) {
  const [first, last] = [points[0], points.at(-1)];
  const held = level ? `; ${level.name}: ${format(level.value)}` : "";
  return `${name}: ${format(first.value)} at first (${span(first)}), ${format(last.value)} at last (${span(last)})${held}.`;
}

function drawing({ place, points, name, level, xTitle, format, kind, said, title }) {
  const width = Math.max(260, place.clientWidth || 600);
  const highest = Math.max(...points.map((point) => point.value), level?.value ?? 0, 1e-12) * 1.06;
  const steps = ticks(highest);
  const last = points.at(-1).to;
  const x = (value) => EDGE.left + ((value - 0.5) / last) * (width - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - (value / steps.at(-1)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const middle = (point) => [x((point.from + point.to) / 2 + 0.5), y(point.value)];
  const id = fresh("chart");
  const svg = s("svg", { width, height: HEIGHT, role: "img", "aria-labelledby": id, viewBox: `0 0 ${width} ${HEIGHT}` }, s("title", { id }, `${title}. ${said}`));
  for (const step of steps) {
    svg.append(s("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(step), y2: y(step) }),
      s("text", { class: "tick", x: EDGE.left - 8, y: y(step) + 4, "text-anchor": "end" }, format(step)));
  }
  const marks = ticks(last, Math.max(2, Math.floor(width / 140))).filter((mark) => mark > 0 && mark <= last);
  for (const mark of marks) svg.append(s("text", { class: "tick", x: x(mark), y: HEIGHT - EDGE.bottom + 18, "text-anchor": "middle" }, number(mark)));
  svg.append(s("text", { class: "tick", x: width - EDGE.right, y: HEIGHT - 3, "text-anchor": "end" }, xTitle));
  const way = points.map((point, i) => `${i ? "L" : "M"}${middle(point).map((each) => each.toFixed(1)).join(",")}`).join("");
  const [[left], [right]] = [middle(points[0]), middle(points.at(-1))];
  svg.append(s("path", { class: `area ${kind}`, d: `${way}L${right},${y(0)}L${left},${y(0)}Z` }), s("path", { class: `curve ${kind}`, d: way }));
  if (points.length < 3) for (const point of points) svg.append(s("circle", { class: `dot ${kind}`, cx: middle(point)[0], cy: middle(point)[1], r: 4 }));
  if (level) {
    const at = y(level.value);
    svg.append(s("line", { class: "level", x1: EDGE.left, x2: width - EDGE.right, y1: at, y2: at }),
      s("text", { class: "level-name", x: width - EDGE.right, y: at > 40 ? at - 6 : at + 16, "text-anchor": "end" }, `${level.name} ${format(level.value)}`));
  }
  pointer(svg, { points, middle, format, width });
  return svg;
}

/** Show the value next to the pointer. */
function pointer(svg, { points, middle, format, width }) {
  const dot = s("circle", { class: "dot", r: 4.5, visibility: "hidden" });
  const text = s("text", { class: "tip", visibility: "hidden" });
  svg.append(dot, text);
  svg.addEventListener("pointermove", (event) => {
    const at = event.clientX - svg.getBoundingClientRect().left;
    const nearest = points.reduce((one, other) => (Math.abs(middle(other)[0] - at) < Math.abs(middle(one)[0] - at) ? other : one));
    const [cx, cy] = middle(nearest);
    for (const [key, value] of Object.entries({ cx, cy, visibility: "visible" })) dot.setAttribute(key, value);
    for (const [key, value] of Object.entries({ x: Math.min(Math.max(cx, 70), width - 70), y: cy > 40 ? cy - 12 : cy + 24, "text-anchor": "middle", visibility: "visible" })) text.setAttribute(key, value);
    text.textContent = `${span(nearest)}: ${format(nearest.value)}`;
  });
  svg.addEventListener("pointerleave", () => { for (const each of [dot, text]) each.setAttribute("visibility", "hidden"); });
}

/** Return bars of counts by name, the largest first. */
export function bars(counts) {
  const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
  const most = Math.max(1, ...Object.values(counts));
  const sorted = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return h("table", { class: "bars" }, h("caption", { class: "unseen" }, "Decisions"),
    h("thead", { class: "unseen" }, h("tr", {}, ["Decision", "Share", "Subjects"].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, sorted.slice(0, 12).map(([name, value]) => {
      const bar = h("span", { class: "bar" });
      bar.style.width = `${(100 * value) / most}%`;
      return h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "share" }, bar, h("span", { class: "unseen" }, `${Math.round((100 * value) / total)} %`)),
        h("td", { class: "number" }, number(value), " ", h("small", {}, `${Math.round((100 * value) / total)} %`)));
    })));
}
