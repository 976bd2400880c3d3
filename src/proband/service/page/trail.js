// The trail: every event of the log, who did what, where, when, and why. The newest come first.

import * as api from "./api.js";
import { choice, field, fill, h, heading, seldom, tell, waiting } from "./dom.js";
import { watch } from "./live.js";
import { moment, number, shown } from "./numbers.js";
import { link } from "./places.js";

export const name = "trail";
const PAGE = 100;
const KINDS = ["created", "arrived", "observed", "decided", "corrected", "revealed", "voided", "taken", "imported", "restarted"];

export async function show({ main, parts: [study], signal }) {
  fill(main, waiting());
  const about = await api.about(study, { anew: true });
  const wanted = { kind: "", subject: "", actor: "" };
  const place = h("div", { class: "scroll panel", tabindex: "0", role: "region", "aria-label": "Events" });
  const more = h("div", { class: "actions" });
  const load = () => list({ study, wanted, place, more, signal });
  const again = seldom(load, 300);
  const change = (what) => (event) => { wanted[what] = event.target.value.trim(); again(); };
  fill(main,
    heading("Trail", h("a", { class: "button", href: api.at(study, "export"), download: true }, "Download the log")),
    h("form", { class: "row filters", role: "search", onsubmit: (event) => event.preventDefault() },
      field("What", choice([["", "everything"], ...KINDS], { onchange: change("kind") })),
      field("Subject", h("input", { type: "search", oninput: change("subject"), autocomplete: "off" })),
      field("Who", h("input", { type: "search", oninput: change("actor"), autocomplete: "off" }))),
    place, more);
  await load();
  watch(study, about.events, seldom(load, 2500), signal);
}

async function list({ study, wanted, place, more, signal }) {
  const body = h("tbody", {});
  const next = async (before) => {
    const found = await api.get(api.query(api.at(study, "trail"), { before, limit: PAGE, ...wanted }), { signal });
    body.append(...found.items.map((event) => row(event, study)));
    const go = () => next(found.next).catch(tell);
    fill(more, found.next !== null && [h("button", { type: "button", onclick: go }, "Earlier ones"), h("p", { class: "hint" }, `looked at down to event ${number(found.next)}`)]);
  };
  await next(null);
  fill(place, body.children.length ? table(body) : h("p", {}, "No event is like this."));
}

const table = (body) => h("table", { class: "trail" }, h("caption", { class: "unseen" }, "Events, the newest first"),
  h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "number" }, "No."), ["When", "Who", "Station", "What", "Subject", "In detail"].map((title) => h("th", { scope: "col" }, title)))), body);

function row(event, study) {
  return h("tr", {},
    h("th", { scope: "row", class: "number" }, number(event.number)),
    h("td", { class: "time" }, moment(event.time, { seconds: true })), h("td", { class: "who" }, event.actor), h("td", { class: "where" }, event.station),
    h("td", { class: "what" }, event.kind),
    h("td", { class: "whom" }, event.subject && h("a", { href: link("study", study, "subjects", event.subject) }, event.subject)),
    h("td", { class: "detail" }, detail(event)));
}

/** Return what an event says, in a few words; all of it is in the log. */
function detail({ kind, data }) {
  const against = data.advised !== undefined && data.advised !== (data.test ?? data.decision) ? h("small", {}, ` (advised: ${data.advised})`) : null;
  if (kind === "observed") return [h("b", {}, data.test), ` ${shown(data.outcome)}`, against];
  if (kind === "decided") return [h("b", {}, said(data.decision)), against];
  if (kind === "corrected") return [h("b", {}, data.test), ` ${shown(data.was ?? "not run")} → ${shown(data.outcome ?? "withdrawn")}: ${data.reason}`];
  if (kind === "revealed" || (kind === "arrived" && Object.keys(data.known ?? {}).length)) return said(data.outcomes ?? data.known);
  if (kind === "imported") return `${data.source ?? ""}`;
  if (kind === "created") return `${data.agent}, seed ${data.seed}`;
  return data.reason ?? "";
}

const said = (what) => (typeof what === "object" && what !== null ? Object.entries(what).map(([test, outcome]) => `${test} ${shown(outcome)}`).join(", ") : String(what));
