// What if: the advice for a subject of whom somebody thinks this much were known, and what would change it.

import * as api from "./api.js";
import { choice, field, fill, h, seldom, waiting, wrong } from "./dom.js";
import { amount, cost, number, scaled, sentence, typed } from "./numbers.js";

const MOST = 24;
const SHOWN = 8;

/** The part of the policy page that asks what if. */
export class WhatIf {
  constructor(study, about, signal) {
    Object.assign(this, { study, about, signal });
    this.answer = h("div", { class: "answer", "aria-live": "polite" });
    this.inputs = new Map();
    const again = seldom(() => this.ask(), 200);
    for (const test of about.problem.tests.filter((each) => each.available !== false)) this.inputs.set(test.name, this.input(test, again));
    this.element = h("section", { class: "panel what-if", "aria-labelledby": "what-if" },
      h("h2", { id: "what-if" }, "What if"), this.answer,
      h("details", {}, h("summary", {}, "Think up another subject"),
        h("form", { onsubmit: (event) => event.preventDefault() }, [...this.inputs].map(([test, input]) => field(test, input)),
          h("button", { type: "button", onclick: () => this.set([]) }, "Nothing is known"))));
  }

  input(test, again) {
    const names = this.about.outcomes[test.name];
    if (names) return choice([["", "not known"], ...names.map((each) => [`=${each}`, each])], { onchange: again });
    return h("input", { inputmode: "decimal", placeholder: "not known", autocomplete: "off", oninput: again });
  }

  /** Ask about a subject of whom a path of outcomes is known. */
  async set(path) {
    for (const input of this.inputs.values()) input.value = "";
    for (const [test, outcome] of path) if (this.inputs.has(test)) this.inputs.get(test).value = this.about.outcomes[test] ? `=${outcome}` : outcome;
    await this.ask();
  }

  known() {
    const given = {};
    for (const [test, input] of this.inputs) {
      const text = input.value.trim();
      if (text === "") continue;
      given[test] = this.about.outcomes[test] ? text.slice(1) : typed(text);
    }
    return given;
  }

  advice(known) { return api.post(api.at(this.study, "what-if"), { known }, { signal: this.signal }); }

  async ask() {
    this.asked = null;
    this.answer.setAttribute("aria-busy", "true");
    try {
      const known = this.known();
      const asked = (this.asked = JSON.stringify(known));
      const advice = await this.advice(known);
      if (this.asked !== asked) return;
      const changes = h("div", {}, waiting("Looking for what would change it …"));
      fill(this.answer, this.told(known, advice), changes);
      fill(changes, await this.changes(known, advice, () => this.asked === asked));
    } catch (error) {
      if (error.name === "AbortError") throw error;
      fill(this.answer, wrong(error));
    } finally {
      this.answer.setAttribute("aria-busy", "false");
    }
  }

  told(known, advice) {
    const given = Object.entries(known);
    return [
      h("p", { class: "known" }, given.length ? ["Known: ", given.map(([test, outcome], i) => [i > 0 && ", ", test, " ", h("b", {}, typeof outcome === "number" ? number(outcome) : outcome)])] : "Nothing is known."),
      h("p", { class: "kind" }, advice.kind === "test" ? "Next test" : "Decide"),
      h("p", { class: "action" }, advice.action),
      h("p", { class: "price" }, advice.kind === "test" ? cost(advice.cost, advice.unit) : "", advice.spent > 0 && h("small", {}, ` after ${cost(advice.spent, advice.unit)}`)),
      h("p", { class: "reason" }, sentence(advice.reason)),
      h("p", { class: "hint" }, `As learned up to event ${number(advice.policy)}.`),
      advice.alternatives.length > 0 && this.alternatives(advice),
    ];
  }

  alternatives({ alternatives, unit }) {
    const [, name] = scaled(null, unit);
    const told = (value) => number(scaled(value, unit)[0]);
    const rows = alternatives.map((each) => h("tr", {}, h("th", { scope: "row" }, each.name, h("small", {}, ` ${each.kind}`)), h("td", { class: "number" }, told(each.value)), h("td", { class: "number" }, each.loss === 0 ? "best" : told(each.loss))));
    const table = (some) => h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Instead"), h("th", { scope: "col", class: "number" }, name ? `Value (${name})` : "Value"), h("th", { scope: "col", class: "number" }, "Loses"))), h("tbody", {}, some));
    return [h("h3", {}, "Every possible step"), h("div", { class: "scroll" }, table(rows.slice(0, SHOWN))),
      rows.length > SHOWN && h("details", {}, h("summary", {}, `${rows.length - SHOWN} more`), table(rows.slice(SHOWN)))];
  }

  /** Say what would change the advice: other worths, and other outcomes of what is known. */
  async changes(known, advice, still) {
    const rival = advice.alternatives.find((each) => each.name !== advice.action || each.kind !== advice.kind);
    const closest = rival?.loss > 0 && h("li", {}, h("b", {}, rival.name), ` would be advised if it were worth ${amount(rival.loss, advice.unit)} more`, rival.kind === "test" && ", such as by costing that much less here", ".");
    const others = [];
    for (const [test, outcome] of Object.entries(known)) {
      for (const other of (this.about.outcomes[test] ?? []).filter((each) => each !== outcome)) others.push([test, other]);
    }
    const turned = [];
    let same = 0;
    for (const [test, other] of others.slice(0, MOST)) {
      if (!still()) return null;
      const found = await this.advice({ ...known, [test]: other });
      if (found.action === advice.action && found.kind === advice.kind) same += 1;
      else turned.push(h("li", {}, "Had ", h("b", {}, test), " shown ", h("b", {}, other), `: ${found.kind === "test" ? "test" : "decide"} `, h("b", {}, found.action), "."));
    }
    if (!closest && !others.length) return null;
    return [h("h3", {}, "What would change the advice"), h("ul", {}, closest, turned,
      same > 0 && h("li", {}, `${same} other ${same === 1 ? "outcome" : "outcomes"} of what is known would not.`))];
  }
}
