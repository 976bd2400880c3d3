// The list of studies: what stands in each, search, and beginning another one.

import * as api from "./api.js";
import { fill, h, heading, seldom, waiting } from "./dom.js";
import { ago, count, number } from "./numbers.js";
import { link, may } from "./places.js";

export const name = "studies";
const PAGE = 50;
const AT_ONCE = 3;

export async function show({ main, signal }) {
  const search = h("input", { type: "search", id: "search", autocomplete: "off", placeholder: "part of a name" });
  const place = h("div", { class: "scroll panel" });
  const more = h("div", { class: "actions" });
  fill(main,
    heading("Studies",
      h("label", { for: "search", class: "unseen" }, "Search"), search,
      may("engineer") && h("a", { href: link("new"), class: "button main" }, "New study")),
    place, more);
  const load = () => list({ search: search.value.trim(), place, more, signal });
  search.addEventListener("input", seldom(load, 250));
  await load();
}

async function list({ search, place, more, signal }) {
  const body = h("tbody", {});
  const table = h("table", { class: "studies" },
    h("caption", { class: "unseen" }, "Studies"),
    h("thead", {}, h("tr", {}, ["Study", "Subjects", "Open", "Agent", "Events", "Last event", ""].map((title) =>
      h("th", { scope: "col", class: ["Subjects", "Open", "Events"].includes(title) ? "number" : null }, title || h("span", { class: "unseen" }, "Go to"))))), body);
  const next = async (after) => {
    const page = await api.get(api.query("/api/studies", { after, limit: PAGE, search }), { signal });
    const rows = page.items.map(row);
    body.append(...rows.map(({ element }) => element));
    const again = h("button", { type: "button", onclick: () => next(page.next) }, "More");
    fill(more, page.next !== null && again);
    glances(rows, signal);
    return rows.length;
  };
  if (!place.children.length) fill(place, waiting());
  const found = await next("");
  fill(place, found ? table : h("p", {}, search ? `No study is called like “${search}”.` : "There is no study yet.", " ",
    !search && may("engineer") && h("a", { href: link("new") }, "Begin one")));
}

function row(item) {
  const cells = { subjects: h("td", { class: "number" }, "…"), open: h("td", { class: "number" }, "…") };
  const last = item.last && [ago(item.last.time), h("br"), h("small", {}, item.last.kind, item.last.subject && ` ${item.last.subject}`, ` by ${item.last.actor}`)];
  const element = h("tr", {},
    h("th", { scope: "row" }, h("a", { href: link("study", item.study) }, item.study)),
    cells.subjects, cells.open,
    h("td", {}, item.agent ?? "cannot be read"),
    h("td", { class: "number" }, number(item.events)),
    h("td", {}, last),
    h("td", {}, h("a", { href: link("study", item.study, "operate"), "aria-label": `Operate ${item.study}` }, "Operate")));
  return { item, element, cells };
}

/** Fill in how many subjects there are, which needs the study itself; a few at a time. */
async function glances(rows, signal) {
  const left = [...rows];
  const work = async () => {
    for (let one = left.shift(); one && !signal.aborted; one = left.shift()) {
      try {
        const found = await api.get(api.query(api.at(one.item.study, "summary"), { exploration: false, drift: false }), { signal });
        fill(one.cells.subjects, number(found.open + found.finished + found.voided));
        one.cells.subjects.title = `${count(found.finished, "finished subject")}, ${found.voided} voided, ${found.imported} past`;
        fill(one.cells.open, number(found.open));
      } catch (error) {
        if (error.name === "AbortError") return;
        fill(one.cells.subjects, "?");
        one.cells.subjects.title = error.detail ?? error.message;
        fill(one.cells.open, "?");
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
