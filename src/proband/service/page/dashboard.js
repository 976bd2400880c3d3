// The dashboard of a study: what it costs against testing everything, what is decided, what is learned, and whether
// the subjects still are what they were. It moves with every event.

import * as api from "./api.js";
import { bars, lineChart } from "./charts.js";
import { fill, h, heading, seldom, waiting } from "./dom.js";
import { knowledge } from "./knowledge.js";
import { watch } from "./live.js";
import { cost, count, moment, number, percent, scaled } from "./numbers.js";
import { link, may } from "./places.js";
import { upkeep } from "./upkeep.js";

export const name = "dashboard";
const LATELY = 8;
const SLOWLY = 20_000;

export async function show({ main, parts: [study], signal }) {
  fill(main, waiting());
  const about = await api.about(study, { anew: true });
  const places = Object.fromEntries(["figures", "warnings", "charts", "decisions", "learned", "lately"].map((each) => [each, h("div", { class: each })]));
  const quick = async () => {
    const found = await api.get(api.query(api.at(study, "summary"), { exploration: false, drift: false }), { signal });
    fill(places.figures, figures(found));
    fill(places.warnings, warnings(found));
    charts(places, found);
  };
  const slow = async () => {
    const found = await api.get(api.query(api.at(study, "summary"), { exploration: true, drift: true }), { signal });
    fill(places.learned, knowledge(found, study));
  };
  const events = (await api.get(api.query(api.at(study, "events"), { after: Math.max(0, about.events - LATELY), limit: LATELY }), { signal })).items;
  const lately = () => fill(places.lately, latelyOf(events, study));
  fill(main,
    heading(study, may("operator") && h("a", { class: "button main", href: link("study", study, "operate") }, "Operate")),
    h("p", { class: "hint" }, `${about.problem.name || study} · ${count(about.problem.tests.length, "test")} · agent ${about.agent} · since ${moment(about.created)}`),
    places.warnings, places.figures,
    h("section", { class: "panel wide", "aria-label": "Over time" }, places.charts),
    h("div", { class: "columns" },
      h("section", { class: "panel" }, h("h2", {}, "Decisions"), places.decisions),
      h("section", { class: "panel" }, h("h2", {}, "What is learned"), places.learned),
      h("section", { class: "panel" }, h("h2", {}, "Lately"), places.lately)),
    upkeep(study, about));
  lately();
  fill(places.learned, waiting("It waits for the plan, if one is being made …"));
  const [news, slowNews] = [seldom(quick, 700), seldom(slow, SLOWLY)];
  watch(study, about.events, (fresh) => {
    events.push(...fresh);
    events.splice(0, Math.max(0, events.length - LATELY));
    lately();
    news();
    slowNews();
  }, signal);
  await quick();
  slowNews();
}

/** The numbers that matter most. */
function figures(found) {
  const everything = found.finished ? found.mean_cost + found.cost_saved / found.finished : null;
  const saved = everything > 0 ? found.cost_saved / (everything * found.finished) : null;
  return [
    figure("Finished", number(found.finished), found.voided ? `${number(found.voided)} voided` : `${number(found.imported)} past subjects known`),
    figure("Open", number(found.open), found.waiting ? `${number(found.waiting)} left lying` : "none left lying"),
    figure("Cost a subject", money(found.finished ? found.mean_cost : null, found.unit), found.finished ? `testing everything: ${cost(...rounded(everything, found.unit))}` : "nobody is finished yet"),
    figure("Saved", money(found.finished ? found.cost_saved : null, found.unit), saved === null ? "against testing everything" : `${percent(saved)} of testing everything`),
    figure("Tests a subject", number(found.mean_tests, 3), `${number(found.tests_saved)} tests not run`),
  ];
}

function money(value, unit) {
  if (value === null) return "–";
  const [all, name] = rounded(value, unit);
  return [h("span", { class: "whole" }, cost(all)), " ", h("small", {}, name)];
}

function rounded(value, unit) {
  const [all, name] = scaled(value, unit);
  return [Math.abs(all) < 10_000 ? Math.round(all * 100) / 100 : Math.round(all), name];
}

function figure(title, value, below) {
  return h("div", { class: "figure panel" }, h("p", { class: "kind" }, title), h("p", { class: "value" }, value), h("p", { class: "hint" }, below));
}

function warnings(found) {
  const said = [
    found.trouble && `The agent cannot learn: ${found.trouble}`,
    found.clock.length && `The clocks of ${[...new Set(found.clock.map((each) => each.station))].join(", ")} were behind the log.`,
  ];
  return said.filter(Boolean).map((text) => h("p", { class: "notice" }, text));
}

function charts(places, found) {
  fill(places.decisions,
    Object.keys(found.decisions).length ? bars(found.decisions) : h("p", {}, "Nothing was decided yet."),
    h("ul", { class: "plain hint" },
      h("li", {}, `${count(found.decisions_against_advice, "decision")} and ${count(found.tests_against_advice, "test")} against the advice`),
      h("li", {}, `${count(found.corrections, "correction")}, ${count(found.revelations, "late truth")}`),
      found.restarted && h("li", {}, `learning began afresh at event ${number(found.restarted)}`)));
  if (!found.stretches.length) { fill(places.charts, h("p", {}, "The first finished subjects will be drawn here.")); return; }
  const everything = found.mean_cost + found.cost_saved / found.finished;
  const points = (what, unit) => found.stretches.map((each) => ({ from: each.first, to: each.last, value: scaled(each[what], unit)[0] }));
  const [level, unit] = scaled(everything, found.unit);
  const drawn = JSON.stringify(found.stretches);
  if (places.charts.dataset.drawn === String(drawn)) return;
  places.charts.dataset.drawn = drawn;
  const open = [...places.charts.querySelectorAll("details")].map((each) => each.open);
  fill(places.charts,
    lineChart({ title: `Cost a subject${unit ? ` in ${unit}` : ""}`, points: points("cost", found.unit), name: "cost a subject", level: { value: level, name: "testing everything" }, xTitle: "finished subjects" }),
    lineChart({ title: "Tests a subject", points: points("tests"), name: "tests a subject", xTitle: "finished subjects", kind: "two" }));
  places.charts.querySelectorAll("details").forEach((each, i) => { each.open = open[i] ?? false; });
}

function latelyOf(events, study) {
  return [
    h("ol", { class: "plain rows" }, [...events].reverse().map((event) => h("li", {},
      h("span", {}, h("b", {}, event.subject ?? ""), " ", event.kind, event.data.test ? ` ${event.data.test}` : "", event.data.decision ? ` ${event.data.decision}` : ""),
      h("small", {}, moment(event.time, { seconds: true }), ` · ${event.station}`)))),
    h("p", {}, h("a", { href: link("study", study, "trail") }, "The whole trail")),
  ];
}
