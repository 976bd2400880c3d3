// The subjects that are open at a station: what is known of them, what is advised, and writing what was done.
// Each subject has an idempotency key for its next step: whoever presses twice is recorded once.

import * as api from "./api.js";
import { memory } from "./places.js";

/** The open subjects of a study, as one station works on them. */
export class Bench {
  constructor(study, about, signal, changed) {
    Object.assign(this, { study, about, signal, changed });
    this.problem = about.problem;
    this.tests = new Map(this.problem.tests.map((test) => [test.name, test]));
    this.steps = new Map();
    this.others = [];
    this.active = null;
    this.skips = memory.get(`skipped ${study}`, {});
  }

  get station() { return memory.get("station", null) ?? this.fallback; }

  /** The steps of this station, in the order of arrival. */
  get mine() {
    return [...this.steps.values()].sort((one, other) => one.subject.number - other.subject.number);
  }

  /** Read which subjects are open, and what is advised for those of this station. */
  async load() {
    const found = [];
    for (let after = 0; after !== null;) {
      const page = await api.get(api.query(api.at(this.study, "subjects"), { open: true, after, limit: 1000 }), { signal: this.signal });
      found.push(...page.items);
      after = page.next;
    }
    this.others = found.filter((subject) => subject.station !== this.station);
    const own = new Map(found.filter((subject) => subject.station === this.station).map((subject) => [subject.name, subject]));
    for (const [name, step] of this.steps) if (!own.has(name) && !step.busy) this.drop(name);
    for (const subject of own.values()) if (!this.steps.get(subject.name)?.busy) this.put(subject);
    this.active = this.steps.has(this.active) ? this.active : null;
    this.active ??= this.mine[0]?.subject.name ?? null;
    this.changed();
    await Promise.all(this.mine.map((step) => this.advise(step)));
  }

  /** Take a subject in as it now stands. */
  put(subject) {
    const step = this.steps.get(subject.name);
    const version = JSON.stringify([subject.known, subject.status, subject.ran, subject.policy]);
    if (step && step.version === version) step.subject = subject;
    else this.steps.set(subject.name, { ...step, subject, version, advice: null, error: null, busy: false, key: api.key() });
    return this.steps.get(subject.name);
  }

  drop(name) {
    this.steps.delete(name);
    if (this.active === name) this.active = null;
    delete this.skips[name];
    memory.set(`skipped ${this.study}`, this.skips);
  }

  /** Ask what to do next with a subject, if that is not known. */
  async advise(step) {
    if (step.advice || step.asking || step.subject.status !== "open") return;
    step.asking = true;
    try {
      step.advice = await api.get(api.at(this.study, "subjects", step.subject.name, "ask"), { signal: this.signal });
      step.error = null;
    } catch (error) {
      if (error.name === "AbortError") return;
      step.error = error;
    } finally {
      step.asking = false;
    }
    this.changed(step.subject.name);
  }

  /** Let a subject arrive (or the next number, if it has no name), and work on it. */
  async arrive(name) {
    const subject = await api.post(api.at(this.study, "arrive"), { subject: name || null, station: this.station });
    return this.worked(subject);
  }

  /** Take a subject over from another station. */
  async take(name) {
    const subject = await api.post(api.at(this.study, "take"), { subject: name, at_once: true, station: this.station });
    this.others = this.others.filter((other) => other.name !== name);
    return this.worked(subject);
  }

  async worked(subject) {
    const step = this.put(subject);
    this.active = subject.name;
    this.changed();
    await this.advise(step);
    return step;
  }

  /** Write what was done with a subject: once, however often it is called before the answer is there. */
  async write(step, verb, content) {
    if (step.busy) return null;
    step.busy = true;
    this.changed(step.subject.name);
    try {
      const path = api.at(this.study, "subjects", step.subject.name, verb);
      const answer = await api.post(path, { ...content, station: this.station }, { key: step.key });
      const subject = answer.subject ?? answer;
      step.busy = false;
      if (subject.status === "open") {
        await this.worked(subject);
      } else {
        this.drop(subject.name);
        this.active = this.mine[0]?.subject.name ?? null;
      }
      return answer;
    } finally {
      step.busy = false;
      step.key = api.key();
      this.changed();
    }
  }

  /** Leave a test out for a subject, on this browser alone: nothing is recorded. */
  skip(step, test, leave = true) {
    const now = new Set(this.skips[step.subject.name] ?? []);
    if (leave) now.add(test);
    else now.delete(test);
    this.skips[step.subject.name] = [...now];
    memory.set(`skipped ${this.study}`, this.skips);
    this.changed(step.subject.name);
  }

  skipped(step) {
    return (this.skips[step.subject.name] ?? []).filter((test) => !(test in step.subject.known));
  }

  /** The tests that can still be run on a subject, or told of it. */
  left(step) {
    return this.problem.tests.filter((test) => test.available !== false && !(test.name in step.subject.known));
  }

  /** What to do next: the advice, or what is best beside the tests that are skipped. */
  next(step) {
    const { advice } = step;
    const skipped = this.skipped(step);
    if (!advice || advice.kind === "decision" || !skipped.includes(advice.action)) return advice && { ...advice, instead: null };
    const other = advice.alternatives.find((each) => each.kind === "decision" || !skipped.includes(each.name));
    const test = this.left(step).find((each) => !skipped.includes(each.name));
    const found = other ?? (test ? { name: test.name, kind: "test" } : { name: null, kind: "decision" });
    const price = found.kind === "test" ? priceOf(this, step, found.name) : 0;
    return { ...advice, action: found.name, kind: found.kind, cost: price, loss: found.loss ?? null, instead: advice.action };
  }

  /** The names of a test's outcomes; null where it is measured. */
  outcomes(test) { return this.about.outcomes[test]; }

  /** Whether a number can be told of a test. */
  takesNumbers(test) { return Boolean(this.tests.get(test)?.measured || this.tests.get(test)?.cuts); }
}

/** Return what a test costs a subject now: less where another test of its group was run. */
export function priceOf(bench, step, name) {
  const test = bench.tests.get(name);
  if (test.on_arrival) return 0;
  const begun = test.group && step.subject.ran.some((ran) => bench.tests.get(ran).group === test.group);
  return begun ? test.group_cost : test.cost;
}
