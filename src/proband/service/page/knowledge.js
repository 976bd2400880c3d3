// What a study has learned, as its summary says: what it still explores, what its policy brings, what it certifies,
// and whether the subjects still follow one law.

import { h } from "./dom.js";
import { amount, count, number, percent, scaled, sentence } from "./numbers.js";
import { link } from "./places.js";

/** Return what was learned. */
export function knowledge(found, study) {
  return [
    found.exploration && exploration(found.exploration),
    found.statement?.worth && worth(found.statement.worth, found.unit),
    found.statement?.certificate && certificate(found.statement.certificate, found.unit),
    found.statement?.notices.map((notice) => h("p", { class: "notice" }, sentence(notice))),
    found.drift && drift(found.drift),
    h("p", {}, h("a", { href: link("study", study, "policy") }, "The policy")),
  ];
}

function exploration({ position, behind, commitment, completing }) {
  return [
    h("h3", {}, "Exploration"),
    h("dl", { class: "facts" },
      h("dt", {}, "learned up to"), h("dd", {}, `event ${number(position)}`, behind > 0 && `, ${count(behind, "subject")} ago`),
      h("dt", {}, "policy stays for"), h("dd", {}, commitment === null ? "ever" : commitment === 0 ? "a moment: another one is being made" : count(commitment, "more subject")),
      h("dt", {}, "tested completely"), h("dd", {}, completing === null ? "not known how many" : completing === 0 ? "nobody" : `${percent(completing)} of those to come, to learn from them`)),
  ];
}

function worth({ value, low, high, distance, subjects }, unit) {
  return [
    h("h3", {}, "What the policy brings"),
    h("p", {}, h("b", { class: "value" }, amount(value, unit)), " a subject"),
    h("p", { class: "hint" }, `${number(scaled(low, unit)[0], 3)} to ${amount(high, unit)} with 90 % confidence, from ${count(subjects, "subject")} tested completely that it was not made from; the best plan is about ${amount(distance, unit)} ahead.`),
  ];
}

/** Return a certificate: what is sure of the best set of measurements. */
export function certificate(given, unit) {
  const list = (title, tests) => [h("dt", {}, title), h("dd", {}, tests.length ? tests.join(", ") : "none")];
  return [
    h("h3", {}, "Certificate"),
    h("p", { class: given.withdrawn ? "notice" : "" }, given.says.replace(/within \S+ a round/, `within ${amount(given.bound, unit)} a round`)),
    h("dl", { class: "facts" },
      list("in the best set", given.inside), list("not in it", given.outside), list("undecided", given.undecided),
      list(`best so far (${given.best.length})`, given.best),
      h("dt", {}, "at most"), h("dd", {}, given.bound === null ? "not known how far" : `${amount(given.bound, unit)} a round`, " from the best"),
      h("dt", {}, "asked for"), h("dd", {}, `${amount(given.epsilon, unit)}, with probability ${number(1 - given.delta)}, after ${count(given.rounds, "round")}`)),
  ];
}

function drift(report) {
  const p = `p = ${number(report.p_value, 2)}, false alarms ${percent(report.alpha)}`;
  return [
    h("h3", {}, "Drift"),
    h("p", { class: report.alarm ? "wrong" : "" },
      report.alarm ? `The subjects have changed: seen at subject ${number(report.raised.subject)} (${p}).` : `None seen in ${count(report.observations, "outcome")} of ${count(report.subjects, "subject")} (${p}).`),
    report.suspects.length > 0 && h("details", { open: report.alarm }, h("summary", {}, "What speaks most for it"),
      h("ul", {}, report.suspects.slice(0, 5).map((suspect) => h("li", {}, sentence(suspect.text) ?? JSON.stringify(suspect))))),
  ];
}
