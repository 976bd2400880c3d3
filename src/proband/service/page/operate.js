// The operator's page: the open subjects of a station side by side, a field for scanner and keyboard, and what is
// waiting elsewhere. It goes on by itself when the service was away.

import * as api from "./api.js";
import { amend } from "./amend.js";
import { Bench } from "./bench.js";
import { arrange, Card } from "./card.js";
import { ask, fill, h, heading, seldom, tell, toast, waiting } from "./dom.js";
import { entryField } from "./entry.js";
import { watch } from "./live.js";
import { count, hour, moment } from "./numbers.js";
import { link, may, me, memory } from "./places.js";

export const name = "operate";

export async function show({ main, parts, signal }) {
  const [study, wanted] = parts;
  fill(main, waiting());
  const about = await api.about(study, { anew: true });
  if (signal.aborted) return;
  const page = new Page(study, about, signal);
  fill(main, page.parts());
  page.entry?.refocus();
  watch(study, about.events, page.news, signal);
  await page.bench.load().catch((error) => { if (error.name !== "AbortError") throw error; });
  await page.recent();
  if (wanted) await page.subject(wanted).catch(tell);
}

class Page {
  constructor(study, about, signal) {
    Object.assign(this, { study, about, signal });
    this.cards = new Map();
    this.bench = new Bench(study, about, signal, () => this.draw());
    this.bench.fallback = me.user;
    this.grid = h("div", { class: "cards" });
    this.elsewhere = h("div", { class: "elsewhere" });
    this.finished = h("div", { class: "recent" });
    this.says = h("p", { class: "unseen", role: "status", "aria-live": "polite" });
    this.news = seldom(() => this.refresh(), 400);
  }

  parts() {
    const operator = may("operator");
    this.entry = operator ? entryField(this.hands()) : null;
    return [
      heading("Operate", this.stationButton()),
      operator ? h("div", { class: "desk" }, this.entry.form, h("button", { type: "button", class: "large", onclick: () => this.guarded(() => this.bench.arrive(null)) }, "Next number arrives"))
        : h("p", { class: "notice" }, `You may look; telling and deciding needs the role operator, and ${me.user} is a ${me.role}.`),
      this.says,
      h("h2", { class: "unseen" }, "Open at this station"),
      this.grid, this.elsewhere, this.finished,
    ];
  }

  stationButton() {
    const button = h("button", { type: "button", class: "quiet station", onclick: () => this.chooseStation(button) });
    button.append("This station: ", h("b", {}, this.bench.station));
    return button;
  }

  /** What the field can do. */
  hands() {
    const active = () => this.cards.get(this.bench.active);
    return {
      active,
      ready: async () => { while (active()?.busy && !this.signal.aborted) await api.pause(20, this.signal); },
      isOpen: (text) => this.bench.steps.has(text) || this.bench.others.some((other) => other.name === text),
      subject: (text) => this.guarded(() => this.subject(text)),
      wantsNumber: (card) => Boolean(card.element.querySelector(".next input.measure")),
      measured: (card, value) => card.tellOf(this.bench.next(card.step).action, value),
    };
  }

  /** Go to a subject: to its card, to taking it over, to what became of it, or let it arrive. */
  async subject(text) {
    if (this.bench.steps.has(text)) {
      this.bench.active = text;
      this.draw();
      this.cards.get(text).element.scrollIntoView({ block: "nearest" });
      return;
    }
    const other = this.bench.others.find((each) => each.name === text);
    if (other) { await this.takeOver(other); return; }
    try {
      await this.bench.arrive(text);
    } catch (error) {
      if (error.type !== "StudyError") throw error;
      await amend(this.study, this.about, text, { note: error.detail, changed: () => this.news() });
    }
  }

  async takeOver(subject) {
    const held = new Date(subject.held_until) > new Date();
    const text = held
      ? `“${subject.station}” holds it until ${hour(subject.held_until)} and may be at work on it. Whatever “${subject.station}” tells afterwards is refused.`
      : `“${subject.station}” has let it lie since ${moment(subject.held_until)}.`;
    if (await ask(`Take over ${subject.name}?`, text, "Take it over")) await this.bench.take(subject.name);
  }

  /** Write something; if another station holds the subject, ask whether to take it over, and write again. */
  async act(step, verb, content) {
    try {
      const answer = await this.bench.write(step, verb, content);
      if (verb === "decide") this.recent().catch(() => {});
      return answer;
    } catch (error) {
      if (error.name === "AbortError") return null;
      if (error.type === "HeldError" && (await ask(`Take over ${step.subject.name}?`, error.detail, "Take it over, and record"))) {
        await this.bench.take(step.subject.name);
        return this.bench.write(this.bench.steps.get(step.subject.name), verb, content);
      }
      tell(error);
      this.news();
      return null;
    } finally {
      this.settle();
    }
  }

  /** Go on with the field, unless somebody works on a card by keyboard. */
  settle() {
    const here = document.activeElement;
    if (!here || here === document.body || here.id === "entry") this.entry?.refocus();
  }

  async guarded(work) {
    try { await work(); } catch (error) { tell(error); }
    this.draw();
    this.entry?.refocus();
  }

  async refresh() {
    await this.bench.load();
    await this.recent();
  }

  draw() {
    const steps = this.bench.mine;
    for (const name of [...this.cards.keys()]) if (!this.bench.steps.has(name)) this.cards.delete(name);
    const cards = steps.map((step) => {
      const known = this.cards.get(step.subject.name);
      if (known) return known;
      const card = new Card(this.bench, step.subject.name, {
        act: (...given) => this.act(...given),
        amend: (subject) => amend(this.study, this.about, subject, { station: this.bench.station, changed: () => this.news() }).catch(tell),
        entry: (text, options) => this.entry?.take(text, options),
      });
      this.cards.set(step.subject.name, card);
      return card;
    });
    arrange(this.grid, cards);
    cards.forEach((card, i) => card.draw(steps[i]));
    if (!may("operator")) for (const button of this.grid.querySelectorAll("button, input, select")) button.disabled = true;
    this.announce();
    this.drawElsewhere();
  }

  announce() {
    const step = this.bench.steps.get(this.bench.active);
    const next = step && this.bench.next(step);
    const words = next ? `${step.subject.name}: ${next.kind === "test" ? "next test" : "decide"} ${next.action ?? ""}` : "";
    if (words !== this.says.textContent) this.says.textContent = words;
  }

  drawElsewhere() {
    const others = this.bench.others;
    const drawn = JSON.stringify(others.map((other) => [other.name, other.station, other.held_until, other.spent]));
    if (drawn === this.drawnElsewhere) return;
    this.drawnElsewhere = drawn;
    const rows = others.slice(0, 50).map((other) => h("li", {},
      h("b", {}, other.name), " ",
      h("span", {}, `at ${other.station}, `, new Date(other.held_until) > new Date() ? `held until ${hour(other.held_until)}` : `free since ${moment(other.held_until)}`),
      may("operator") && h("button", { type: "button", class: "small", onclick: () => this.guarded(() => this.takeOver(other)), "aria-label": `Take over ${other.name}` }, "Take over")));
    fill(this.elsewhere, others.length > 0 && [h("h2", {}, `Open elsewhere (${count(others.length, "subject")})`), h("ul", { class: "plain" }, rows)]);
  }

  /** Show who was finished last, for whoever has to put something right. */
  async recent() {
    const found = await api.get(api.query(api.at(this.study, "find"), { status: "finished", sort: "finished", descending: true, limit: 8 }), { signal: this.signal });
    const rows = found.items.map((subject) => h("li", {},
      h("b", {}, subject.name), " ", h("span", { class: "decision" }, subject.decision), " ",
      h("small", {}, hour(subject.finished), subject.followed ? "" : " · not as advised"), " ",
      h("button", { type: "button", class: "small", "aria-label": `Correct or void ${subject.name}`,
        onclick: () => amend(this.study, this.about, subject.name, { station: this.bench.station, changed: () => this.news() }).catch(tell) }, may("operator") ? "Correct …" : "Look")));
    fill(this.finished, found.total > 0 && [
      h("h2", {}, "Finished last"), h("ul", { class: "plain" }, rows),
      h("p", {}, h("a", { href: link("study", this.study, "subjects") }, "All subjects"))]);
  }

  async chooseStation(button) {
    const { chooseStation } = await import("./station.js");
    const chosen = await chooseStation(this.bench.station);
    if (!chosen) return;
    memory.set("station", chosen);
    fill(button, "This station: ", h("b", {}, chosen));
    this.bench.steps.clear();
    toast(`This station is ${chosen} now.`);
    this.entry?.refocus();
    await this.guarded(() => this.bench.load());
  }
}
