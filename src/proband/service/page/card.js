// The card of an open subject: the next step in large letters, why, what it costs, and buttons for what it showed.

import { choice, fill, fresh, h, tell, toast } from "./dom.js";
import { amount, cost, sentence, shown } from "./numbers.js";
import { priceOf } from "./bench.js";

const LETTERS = "abcdefghijklmnopqrstuvw";
const BURST = 60;

/** A card that stays while its subject is open; what is in it is drawn anew. */
export class Card {
  constructor(bench, name, { act, amend, entry }) {
    Object.assign(this, { bench, name, act, amend, entry });
    this.title = h("h2", { id: fresh("subject") }, name);
    this.element = h("section", { class: "card", tabindex: "0", "aria-labelledby": this.title.id, dataset: { subject: name } });
    this.element.addEventListener("focusin", () => this.activate());
    this.element.addEventListener("keydown", (event) => this.pressed(event));
    this.buttons = new Map();
    this.burst = "";
    this.open = false;
  }

  activate() {
    if (this.bench.active === this.name) return;
    this.bench.active = this.name;
    this.bench.changed();
  }

  /** Draw the card, unless somebody is typing into it. */
  draw(step) {
    const busy = (this.busy = step.busy || (!step.advice && !step.error));
    this.element.classList.toggle("active", this.bench.active === this.name);
    this.element.setAttribute("aria-busy", String(busy));
    const drawn = JSON.stringify([step.version, step.busy, step.advice, this.bench.skipped(step), String(step.error)]);
    if (drawn === this.drawn) return;
    if (busy && this.drawn) {  // what stands there stays until the next step is known, and cannot be pressed
      this.drawn = "busy";
      for (const button of this.element.querySelectorAll("button, input")) button.disabled = true;
      return;
    }
    const held = this.element.contains(document.activeElement);
    this.drawn = drawn;
    this.step = step;
    this.buttons.clear();
    const next = this.bench.next(step);
    const { subject } = step;
    fill(this.element,
      h("header", {}, this.title,
        h("span", { class: "spent" }, "spent ", h("b", {}, cost(subject.spent, subject.unit))),
        h("button", { type: "button", class: "quiet", onclick: () => this.amend(subject.name) }, "Correct, void …")),
      step.error && h("p", { class: "wrong", role: "alert" }, step.error.detail ?? step.error.message),
      !step.error && !next && h("p", { class: "waiting" }, "Asking …"),
      next && (next.kind === "test" ? this.test(next) : this.decision(next)),
      this.known(subject),
      next && this.otherWays(next));
    if (held) (this.element.querySelector("input.measure") ?? this.element).focus({ preventScroll: true });
  }

  /** The next test, and what it may show. */
  test(next) {
    const test = this.bench.tests.get(next.action);
    return h("div", { class: "next" },
      h("p", { class: "kind" }, test.on_arrival ? "Known on arrival" : next.exploring && !next.instead ? "Next test · to learn from it" : "Next test"),
      h("p", { class: "action" }, test.name),
      h("p", { class: "price" }, test.on_arrival ? "nothing" : cost(next.cost, next.unit), this.sum(next)),
      h("p", { class: "reason" }, this.reason(next)),
      this.outcomes(test.name, true),
      h("div", { class: "buttons" },
        this.button("x", "Skip: it cannot be run", "quiet", () => this.bench.skip(this.step, test.name))));
  }

  sum(next) {
    return next.cost > 0 && next.spent > 0 && h("small", {}, ` → ${cost(next.cost + next.spent, next.unit)} in all`);
  }

  reason(next) {
    if (!next.instead) return sentence(next.reason);
    const lost = next.loss === null || next.loss === undefined ? "" : ` It loses ${amount(next.loss, next.unit)} to it.`;
    return `“${next.instead}” is skipped here, which is no result: nothing is recorded of it.${next.action ? " This is the best of what is left." : " Nothing is left to test: decide."}${lost}`;
  }

  /** The advised decision, and the others. */
  decision(next) {
    const names = this.bench.problem.decisions ?? [];
    const others = names.filter((name) => name !== next.action);
    const main = next.action === null ? [] : [this.button(LETTERS[0], next.action, "main large", () => this.decide(names.length && next.instead ? next.action : null, next.action))];
    const shift = main.length;
    return h("div", { class: "next decide" },
      h("p", { class: "kind" }, "Decide"),
      h("p", { class: "action" }, next.action ?? "which?"),
      h("p", { class: "reason" }, this.reason(next)),
      h("div", { class: "buttons" }, main,
        others.map((name, i) => this.button(LETTERS[i + shift], name, "large", () => this.decide(name, name)))),
      this.bench.problem.reward.kind === "match" && this.match());
  }

  /** The decision of a match: the outcomes of all tests. */
  match() {
    const choices = this.bench.problem.tests.map((test) => {
      const known = this.step.subject.known[test.name];
      const made = choice(this.bench.outcomes(test.name), {}, known);
      return [test.name, made, h("label", { class: "inline" }, `${test.name} `, made)];
    });
    const named = () => Object.fromEntries(choices.map(([name, made]) => [name, made.value]));
    return h("details", {}, h("summary", {}, "Decide otherwise"),
      h("div", { class: "tests" }, choices.map(([, , label]) => label)),
      h("button", { type: "button", onclick: () => this.decide(named(), "this") }, "Decide this"));
  }

  /** Buttons for the outcomes of a test, or a field for what is measured, or both where a number is cut. */
  outcomes(test, keys = false) {
    const names = this.bench.outcomes(test);
    return h("div", { class: "outcomes" },
      this.bench.takesNumbers(test) && this.number(test),
      names && h("div", { class: "buttons" }, names.map((name, i) =>
        this.button(keys && i < 9 ? String(i + 1) : null, name, keys ? "large" : "", () => this.tellOf(test, name), { outcome: name, of: test }))));
  }

  number(test) {
    const { unit } = this.bench.tests.get(test);
    const input = h("input", { class: "measure", inputmode: "decimal", autocomplete: "off", "aria-label": `${test}${unit ? ` in ${unit}` : ""}` });
    const send = (event) => {
      event.preventDefault();
      const text = input.value.trim().replace(",", ".");
      if (text === "") return;
      const other = this.bench.steps.has(input.value.trim()) && input.value.trim() !== this.name;
      if (Number.isFinite(Number(text)) && !other) this.tellOf(test, Number(text));
      else { const given = input.value; input.value = ""; this.entry(given); }
    };
    return h("form", { class: "measured", onsubmit: send }, input, unit && h("span", { class: "unit" }, unit),
      h("button", { type: "submit", class: "main" }, "Record"));
  }

  /** A button with its key on it. */
  button(key, text, kind, work, { outcome, of } = {}) {
    const made = h("button", { type: "button", class: kind, "aria-keyshortcuts": key ? key.toUpperCase() : null, onclick: work, dataset: outcome ? { outcome } : {} },
      key && h("kbd", { "aria-hidden": "true" }, key), text);
    if (of) made.setAttribute("aria-label", `${of}: ${outcome}`);
    if (key) this.buttons.set(key, { made, text });
    return made;
  }

  /** What is known, and what is skipped. */
  known(subject) {
    const chips = Object.entries(subject.known).map(([test, outcome]) =>
      h("li", {}, h("span", { class: "of" }, test), " ", h("b", {}, shown(outcome)), unitOf(this.bench.tests.get(test), outcome)));
    const skipped = this.bench.skipped(this.step).map((test) =>
      h("li", { class: "skipped" }, h("span", { class: "of" }, test), " skipped ",
        h("button", { type: "button", class: "quiet small", onclick: () => this.bench.skip(this.step, test, false) }, "Do not skip")));
    return (chips.length > 0 || skipped.length > 0) && h("ul", { class: "chips", "aria-label": "What is known" }, chips, skipped);
  }

  /** Tests and decisions that are not advised: an operator may go another way. */
  otherWays(next) {
    const tests = this.bench.left(this.step).filter((test) => test.name !== next.action);
    const decisions = next.kind === "test" ? this.bench.problem.decisions ?? [] : [];
    if (!tests.length && !decisions.length) return null;
    const details = h("details", { open: this.open, ontoggle: () => { this.open = details.open; } },
      h("summary", {}, "Another way"),
      h("p", { class: "hint" }, "What is not advised is recorded as such, and learned from all the same."),
      tests.map((test) => h("div", { class: "other" },
        h("p", {}, h("b", {}, test.name), " ", h("small", {}, test.on_arrival ? "known on arrival" : cost(priceOf(this.bench, this.step, test.name), this.step.subject.unit))),
        this.outcomes(test.name))),
      decisions.length > 0 && h("div", { class: "other" }, h("p", {}, h("b", {}, "Decide now")),
        h("div", { class: "buttons" }, decisions.map((name) => this.button(null, name, "", () => this.decide(name, name))))));
    return details;
  }

  async tellOf(test, outcome) {
    const before = this.step.subject;
    const answer = await this.act(this.step, "tell", { outcomes: { [test]: outcome } });
    if (answer) {
      const undo = () => this.act(this.bench.steps.get(before.name) ?? this.step, "correct", { test, outcome: null, reason: "taken back at the station" });
      toast(`${before.name}: ${test} ${outcome}`, { action: () => undo().catch(tell) });
    }
  }

  async decide(decision, said) {
    const answer = await this.act(this.step, "decide", { decision });
    if (answer) toast(`${this.name}: ${answer.decision ?? said}`, { action: () => this.amend(this.name), label: "Correct, void …" });
  }

  /** Press the button of a key; return whether there is one. */
  press(key) {
    const found = this.buttons.get(key.toLowerCase());
    if (!found || found.made.disabled) return false;
    found.made.click();
    return true;
  }

  /** Press the button that says something; return whether there is one. */
  say(text) {
    const found = [...this.buttons.values()].find((button) => button.text.toLowerCase() === text.toLowerCase());
    if (!found || found.made.disabled) return false;
    found.made.click();
    return true;
  }

  /** A key on the card acts if it stands alone: a scanner types quicker than people, and goes to the field. */
  pressed(event) {
    if (event.target.closest("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (event.key.length !== 1 || (event.key === " " && !this.burst)) {
      if (event.key === "Enter" && this.burst.length > 1) { event.preventDefault(); clearTimeout(this.timer); this.scanned(true); }
      return;
    }
    event.preventDefault();
    this.burst += event.key;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.scanned(false), BURST);
  }

  scanned(complete) {
    const text = this.burst;
    this.burst = "";
    if (text.length === 1) this.press(text);
    else this.entry(text, { complete });
  }
}

function unitOf(test, outcome) {
  return typeof outcome === "number" && test.unit ? ` ${test.unit}` : null;
}

/** Put cards in a place, in order, without touching those that are there. */
export function arrange(place, cards) {
  for (const old of [...place.children]) if (!cards.some((card) => card.element === old)) old.remove();
  cards.forEach((card, i) => { if (place.children[i] !== card.element) place.insertBefore(card.element, place.children[i] ?? null); });
}
