// Beginning a study: a problem file and past records, read in the browser and checked by the library as they are
// written. A problem can be drafted from the records.

import * as api from "./api.js";
import { choice, field, fill, h, heading, seldom, tell, toast } from "./dom.js";
import { Editor, TABLES } from "./editor.js";
import { EXAMPLE } from "./example.js";
import { count } from "./numbers.js";
import { link, may, me } from "./places.js";

export const name = "create";

export async function show({ main, signal }) {
  if (!may("engineer")) {
    fill(main, heading("New study"), h("p", { class: "notice" }, `Beginning a study needs the role engineer, and ${me.user} is a ${me.role}.`));
    return;
  }
  new Page(signal).show(main);
}

class Page {
  constructor(signal) {
    this.signal = signal;
    this.check = seldom(() => this.checked(), 700);
    const changed = () => { this.ready(false); this.check(); };
    this.problem = new Editor({ label: "The problem", accept: ".toml,.txt,text/plain", changed, hint: "Tests with their prices and outcomes, decisions, and what each is worth: a problem file (TOML)." });
    this.past = new Editor({ label: "Past records", accept: TABLES, table: true, changed, hint: "If there are any: a table (CSV, .xlsx or Parquet) with one column a test and one row a subject, empty where a test was not run." });
    this.named = h("input", { maxlength: 200, autocomplete: "off", oninput: changed });
    this.agent = choice([["", "the one for this kind of problem"]]);
    this.horizon = h("input", { type: "number", min: 1, inputmode: "numeric" });
    this.seed = h("input", { type: "number", min: 0, inputmode: "numeric", value: "0" });
    this.begin = h("button", { type: "submit", class: "main large", disabled: true }, "Begin the study");
    this.said = h("div", { role: "status", class: "checked" });
    this.key = api.key();
  }

  show(main) {
    const draft = h("button", { type: "button", onclick: () => this.draft().catch(tell) }, "Draft the problem from these records");
    this.past.element.append(h("div", { class: "actions" }, draft));
    const example = h("button", { type: "button", onclick: () => this.problem.set(EXAMPLE) }, "Show an example");
    this.problem.element.append(h("div", { class: "actions" }, example));
    fill(main,
      heading("New study"),
      h("form", { onsubmit: (event) => { event.preventDefault(); this.born().catch(tell); } },
        h("div", { class: "columns" }, this.problem.element, this.past.element),
        h("section", { class: "panel begin" }, h("h2", {}, "The study"),
          h("div", { class: "row" }, field("Name", this.named, "By default the problem's."), field("Agent", this.agent)),
          h("details", {}, h("summary", {}, "More"), h("div", { class: "row" },
            field("Seed", this.seed, "Of coins, so that everything can be worked out again."),
            field("Horizon", this.horizon, "How many subjects will come, for agents that need to know."))),
          this.said, h("div", { class: "actions" }, this.begin))));
  }

  ready(yes) { this.begin.disabled = !yes; }

  given() {
    return { problem: this.problem.text, name: this.named.value.trim() || null, past: this.past.given };
  }

  /** Let the library look at what is there. */
  async checked() {
    const given = this.given();
    if (!given.problem.trim()) { fill(this.said); return; }
    const asked = (this.asked = JSON.stringify(given));
    let found;
    try {
      found = await api.post("/api/check", given, { signal: this.signal });
    } catch (error) {
      if (error.name === "AbortError" || this.asked !== asked) return;
      this.problem.mistake(error.detail ?? error.message);
      fill(this.said);
      return;
    }
    if (this.asked !== asked) return;
    this.problem.mistake(null, `It is right: ${count(found.tests, "test")}${found.decisions.length ? `, to decide ${found.decisions.join(" or ")}` : ""}.`);
    if (found.mistake) this.past.mistake(found.mistake.replace(`${given.past.source}: `, ""));
    else if (given.past) this.past.mistake(null, `They are right: ${count(found.past, "past subject")}.`);
    else this.past.mistake(null);
    this.offer(found);
    const name_ = found.name;
    const wrong = !name_ ? "The problem has no name: name the study." : found.exists ? `There is a study “${name_}” already: choose another name.` : null;
    fill(this.said, wrong && h("p", { class: "notice" }, wrong));
    this.ready(!wrong && !found.mistake);
  }

  offer({ agents, agent }) {
    const chosen = this.agent.value;
    fill(this.agent, [["", `${agent} (the one for this kind of problem)`], ...agents.filter((each) => each !== agent).map((each) => [each, each])].map(([value, text]) => h("option", { value }, text)));
    this.agent.value = agents.includes(chosen) ? chosen : "";
  }

  async draft() {
    const { past } = this.given();
    if (!past) { this.past.mistake("there are no records yet: choose a file, or type them here"); return; }
    try {
      const found = await api.post("/api/draft", past, { signal: this.signal });
      this.problem.set(found.problem);
      toast(`A draft, about the column “${found.label}”${found.doubts.length ? `, with ${count(found.doubts.length, "doubt")}` : ""}. Fill in every "?".`);
    } catch (error) {
      if (error.name !== "AbortError") this.past.mistake(error.detail ?? error.message);
    }
  }

  async born() {
    const whole = (input) => (input.value === "" ? null : Number(input.value));
    this.ready(false);
    try {
      const more = { agent: this.agent.value || null, seed: whole(this.seed) ?? 0, horizon: whole(this.horizon) };
      const made = await api.post("/api/studies", { ...this.given(), ...more }, { key: this.key, signal: this.signal });
      toast(`The study “${made.study}” has begun.`);
      location.hash = link("study", made.study, "operate");
    } catch (error) {
      this.key = api.key();
      this.ready(true);
      throw error;
    }
  }
}
