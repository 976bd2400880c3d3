// The policy page: what was learned, as a tree, and what would be advised if.

import * as api from "./api.js";
import { choice, field, fill, h, heading, seldom, tell, waiting, wrong } from "./dom.js";
import { certificate } from "./knowledge.js";
import { watch } from "./live.js";
import { cost, count, number, scaled } from "./numbers.js";
import { Drawing, testOf } from "./tree.js";
import { WhatIf } from "./whatif.js";

export const name = "policy";
const LEARNED = ["decided", "corrected", "revealed", "voided", "imported", "restarted"];

export async function show({ main, parts: [study], signal }) {
  fill(main, waiting());
  const about = await api.about(study, { anew: true });
  const page = new Page(study, about, signal);
  fill(main, heading("Policy", page.depthField()), page.notice, h("div", { class: "policy" }, page.place, page.whatIf.element));
  fill(page.place, waiting("It waits for the plan, if one is being made …"));
  await page.load();
  const again = seldom(() => page.renewed(), 5000);
  watch(study, about.events, (events) => { if (events.some((event) => LEARNED.includes(event.kind))) again(); }, signal);
}

class Page {
  constructor(study, about, signal) {
    Object.assign(this, { study, about, signal });
    this.notice = h("div", { "aria-live": "polite" });
    this.place = h("section", { class: "panel drawing", "aria-label": "What was learned" });
    this.whatIf = new WhatIf(study, about, signal);
    this.depth = choice(["2", "3", "4", "5", "6", "8", "10", "12"], { onchange: () => this.load().catch(tell) }, "3");
  }

  depthField() { return field("Tests on a path, at most", this.depth); }

  async tree() {
    const path = api.query(api.at(this.study, "tree"), { depth: this.depth.value, subjects: true });
    return api.get(path, { signal: this.signal });
  }

  async load() {
    const same = await api.get(api.at(this.study, "same-tests"), { signal: this.signal });
    this.depth.closest(".field").hidden = same.tests !== null;
    if (same.tests !== null) { await this.set(same); return; }
    try {
      this.show(await this.tree());
    } catch (error) {
      if (error.name === "AbortError") throw error;
      this.depth.closest(".field").hidden = true;
      fill(this.place, error.status === 422 ? h("p", {}, "This policy is no tree: what is measured are numbers. Ask it on this page for any of them.") : wrong(error));
      await this.whatIf.set([]);
    }
  }

  show(tree) {
    this.drawn = JSON.stringify(tree.root);
    const cut = tree.root.expected === undefined;
    const drawing = new Drawing({
      decisions: this.about.problem.decisions ?? [], unit: this.about.problem.unit,
      price: (own) => this.price(own), chosen: (own) => this.whatIf.set(own.path).catch(tell),
    });
    const fold = h("button", { type: "button", class: "small", onclick: () => drawing.fold(drawing.nodes.find((node) => node.key === drawing.selected)) }, "Fold, unfold");
    const tools = drawing.tools();
    tools.append(fold);
    fill(this.place, tools, drawing.svg, h("p", { class: "hint" }, "Thick lines: many subjects go there. Each node: its value, the share of subjects that come there, what the test costs, and how many finished subjects fit. Drag to move; press a node for what if.", ` All is as learned up to event ${number(tree.position)}. `, cut ? "There are too many nodes to work out what the plan brings beyond them: values are those of this tree, cut where you say." : "Values are those of following the plan to its end, also where it goes on beyond what is drawn."));
    drawing.draw(tree.root);
    drawing.fit();
    this.whatIf.set([]).catch(tell);
  }

  /** What a test costs at a node: less after another one of its group. */
  price({ node, path }) {
    const tests = new Map(this.about.problem.tests.map((test) => [test.name, test]));
    const test = tests.get(testOf(node));
    if (test.on_arrival) return 0;
    const begun = test.group && path.some(([ran]) => tests.get(ran).group === test.group && !tests.get(ran).on_arrival);
    return begun ? test.group_cost : test.cost;
  }

  /** A set of tests that all subjects get: of an entropy study, or while the first ones are tested alike. */
  async set(same) {
    const { problem } = this.about;
    const entropy = problem.reward.kind === "entropy";
    const left = problem.tests.filter((test) => test.available !== false && !test.on_arrival && !same.tests.includes(test.name));
    const [price, unit] = scaled(same.cost, problem.unit);
    const list = (title, names) => [h("h2", {}, `${title} (${names.length})`), h("ul", { class: "set" }, names.map((each) => h("li", {}, each)))];
    const place = h("div", {});
    fill(this.place,
      h("p", {}, entropy ? "Every subject gets the same measurements, whatever they show." : same.everything ? "Nothing was planned yet: the first subjects are tested completely, to learn from them." : "Every subject gets the same tests, whatever they show."),
      h("p", { class: "value" }, cost(price), " ", h("small", {}, unit), " a subject"),
      list(entropy ? "Measured" : "Tested", same.tests), left.length > 0 && list("Left out", left.map((test) => test.name)), place);
    await this.whatIf.set([]);
    if (!entropy) return;
    const summary = await api.get(api.query(api.at(this.study, "summary"), { drift: false }), { signal: this.signal });
    const stated = summary.statement?.certificate;
    fill(place, stated ? certificate(stated, problem.unit) : h("p", { class: "hint" }, `The agent ${this.about.agent} certifies nothing.`));
  }

  /** Say that there is another policy by now; somebody may be reading this one. */
  async renewed() {
    if (!this.drawn) { await this.load(); return; }
    const tree = await this.tree();
    if (JSON.stringify(tree.root) === this.drawn) return;
    const show_ = () => { fill(this.notice); this.show(tree); };
    fill(this.notice, h("p", { class: "notice" }, `There are newer numbers, from ${count(tree.root.subjects ?? 0, "finished subject")}. `, h("button", { type: "button", class: "small", onclick: show_ }, "Show them")));
  }
}
