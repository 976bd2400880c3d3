// The table of subjects: the paper's Table 1 come alive. Tests are columns, and NA stands where one was not run.

import * as api from "./api.js";
import { amend } from "./amend.js";
import { choice, field, fill, h, heading, seldom, tell, waiting } from "./dom.js";
import { watch } from "./live.js";
import { cost, count, moment, number, scaled } from "./numbers.js";
import { link } from "./places.js";

export const name = "subjects";
const PAGE = 50;
const NOT_RUN = "not run";
const FACTS = [["status", "Status"], ["decision", "Decision"], ["spent", "Cost"], ["tests", "Tests"], ["station", "Station"], ["finished", "Finished"]];
const NUMBERS = ["number", "spent", "tests"];

export async function show({ main, parts: [study, wanted], signal }) {
  fill(main, waiting());
  const about = await api.about(study, { anew: true });
  const table = new Table(study, about, signal);
  fill(main,
    heading("Subjects", table.files),
    table.filters(), table.place, table.pages);
  await table.load();
  watch(study, about.events, seldom(() => table.load(), 2500), signal);
  if (wanted) table.open(wanted);
}

class Table {
  constructor(study, about, signal) {
    Object.assign(this, { study, about, signal });
    this.tests = about.problem.tests;
    this.wanted = { name: "", status: "", decision: "", shown: new Map(), sort: "number", descending: true, skip: 0 };
    this.place = h("div", { class: "scroll panel subjects-table", tabindex: "0", role: "region", "aria-label": "Table of subjects" });
    this.pages = h("div", { class: "actions pages" });
    this.files = h("div", { class: "actions" });
  }

  /** What the table is filtered by. */
  filters() {
    const again = seldom(() => { this.wanted.skip = 0; return this.load(); }, 250);
    const change = (what) => (event) => { this.wanted[what] = event.target.value.trim(); again(); };
    const search = h("input", { type: "search", oninput: change("name"), autocomplete: "off" });
    const status = choice([["", "any"], "open", "finished", "voided"], { onchange: change("status") });
    const decision = choice([["", "any"], ...(this.about.problem.decisions ?? [])], { onchange: change("decision") });
    const listed = this.tests.filter((test) => this.about.outcomes[test.name]);
    const test = choice([["", "any test"], ...listed.map((each) => each.name)]);
    const outcome = choice([["", "anything"]], { disabled: true });
    const chosen = () => {
      this.wanted.shown.clear();
      if (test.value && outcome.value) this.wanted.shown.set(test.value, outcome.value);
      again();
    };
    test.addEventListener("change", () => {
      fill(outcome, [["", "anything"], ...(this.about.outcomes[test.value] ?? []).map((each) => [`=${each}`, each]), ["-", NOT_RUN]].map(([value, text]) => h("option", { value }, text)));
      outcome.disabled = !test.value;
      chosen();
    });
    outcome.addEventListener("change", chosen);
    return h("form", { class: "row filters", role: "search", onsubmit: (event) => event.preventDefault() },
      field("Name", search), field("Status", status),
      this.about.problem.decisions?.length > 1 && field("Decision", decision),
      listed.length > 0 && [field("Test", test), field("showed", outcome)]);
  }

  /** What is looked for, as the service takes it. */
  get search() {
    const { name: part, status, decision, shown, sort, descending } = this.wanted;
    const tests = [...shown.keys()];
    return {
      name: part, status, decision, sort, descending,
      test: tests, outcome: tests.map((test) => (shown.get(test) === "-" ? "" : shown.get(test).slice(1))),
    };
  }

  query() { return api.query(api.at(this.study, "find"), { ...this.search, skip: this.wanted.skip, limit: PAGE }); }

  /** All that is looked for, on all pages, to be taken away. */
  drawFiles({ total }) {
    const file = (ending, text) => h("a", { class: "button", href: api.query(api.at(this.study, `table.${ending}`), this.search), download: true }, text);
    fill(this.files, total > 0 && [file("csv", `Download ${count(total, "subject")} (CSV)`), file("json", "JSON")]);
  }

  async load() {
    const asked = (this.asked = this.query());
    const found = await api.get(asked, { signal: this.signal });
    if (asked !== this.asked) return;  // another question was asked meanwhile
    const focus = document.activeElement?.dataset?.sort;
    fill(this.place, this.drawn(found));
    if (focus) this.place.querySelector(`[data-sort="${CSS.escape(focus)}"]`)?.focus();
    this.drawPages(found);
    this.drawFiles(found);
  }

  drawn(found) {
    if (!found.total) return h("p", {}, "No subject is like this.");
    const column = (key, title, kind) => {
      const sorted = this.wanted.sort === key;
      const arrow = sorted ? (this.wanted.descending ? " ↓" : " ↑") : "";
      return h("th", { scope: "col", class: NUMBERS.includes(key) ? "number" : kind, "aria-sort": sorted ? (this.wanted.descending ? "descending" : "ascending") : null },
        h("button", { type: "button", class: "quiet sort", dataset: { sort: key }, onclick: () => this.sortBy(key) }, title, h("span", { "aria-hidden": "true" }, arrow)));
    };
    const [, unit] = scaled(null, this.about.problem.unit);
    return h("table", { class: "subjects" },
      h("caption", { class: "unseen" }, "Subjects, with what their tests showed"),
      h("thead", {}, h("tr", {}, column("subject", "Subject", "first"), column("number", "No."),
        this.tests.map((test) => column(test.name, test.unit ? `${test.name} (${test.unit})` : test.name, test.measured ? "number" : "test")),
        FACTS.map(([key, title]) => column(key, key === "spent" && unit ? `${title} (${unit})` : title)))),
      h("tbody", {}, found.items.map((subject) => this.row(subject))));
  }

  row(subject) {
    const shown = this.tests.map((test) => {
      const outcome = subject.known[test.name];
      if (outcome === undefined) return h("td", { class: test.measured ? "none number" : "none", title: NOT_RUN }, "NA");
      return typeof outcome === "number" ? h("td", { class: "number" }, number(outcome, 6)) : h("td", {}, outcome);
    });
    return h("tr", { class: subject.status },
      h("th", { scope: "row", class: "first" }, h("button", { type: "button", class: "quiet small", onclick: () => this.open(subject.name) }, subject.name)),
      h("td", { class: "number" }, number(subject.number)), shown,
      h("td", {}, subject.status),
      h("td", { class: subject.decision ? "" : "none" }, subject.decision ?? "–", subject.followed === false && h("small", {}, " (not as advised)")),
      h("td", { class: "number" }, cost(scaled(subject.spent, this.about.problem.unit)[0])), h("td", { class: "number" }, subject.ran.length),
      h("td", {}, subject.station),
      h("td", {}, moment(subject.finished)));
  }

  sortBy(key) {
    const same = this.wanted.sort === key;
    Object.assign(this.wanted, { sort: key, descending: same ? !this.wanted.descending : NUMBERS.includes(key) || key === "finished", skip: 0 });
    this.load().catch(tell);
  }

  drawPages({ total, items }) {
    const { skip } = this.wanted;
    const go = (to) => () => { this.wanted.skip = Math.max(0, to); this.load().catch(tell); };
    fill(this.pages,
      h("p", { role: "status" }, total ? `${number(skip + 1)} to ${number(skip + items.length)} of ${count(total, "subject")}` : ""),
      skip > 0 && h("button", { type: "button", onclick: go(skip - PAGE) }, "Before"),
      skip + items.length < total && h("button", { type: "button", onclick: go(skip + PAGE) }, "After"));
  }

  async open(subject) {
    try {
      const box = await amend(this.study, this.about, subject, { changed: () => this.load().catch(tell) });
      box.addEventListener("close", () => { if (location.hash.includes("/subjects/")) history.replaceState(null, "", link("study", this.study, "subjects")); });
    } catch (error) { tell(error); }
  }
}
