// Tokens: who may do what. A token's secret is shown once, when it is made.

import * as api from "./api.js";
import { ask, choice, dialog, field, fill, h, heading, tell, toast, waiting, wrong } from "./dom.js";
import { moment } from "./numbers.js";

export const name = "tokens";
const ROLES = [["viewer", "viewer: look"], ["operator", "operator: work on subjects"], ["engineer", "engineer: begin, fill and restart studies"], ["admin", "admin: hand out tokens"]];

export async function show({ main, signal }) {
  const place = h("div", { class: "scroll panel", tabindex: "0", role: "region", "aria-label": "Tokens" }, waiting());
  const load = async () => fill(place, table(await api.get("/api/tokens", { signal }), load));
  fill(main, heading("Tokens", h("button", { type: "button", class: "main", onclick: () => make(load) }, "New token")), place);
  await load();
}

function table(tokens, load) {
  const sorted = [...tokens].sort((one, other) => Number(Boolean(one.revoked)) - Number(Boolean(other.revoked)) || other.created - one.created);
  return h("table", { class: "tokens" }, h("caption", { class: "unseen" }, "Tokens"),
    h("thead", {}, h("tr", {}, ["User", "Role", "Studies", "Made", "Holds until", ""].map((title) => h("th", { scope: "col" }, title || h("span", { class: "unseen" }, "Revoke"))))),
    h("tbody", {}, sorted.map((token) => h("tr", { class: token.revoked ? "ended" : null },
      h("th", { scope: "row" }, token.user, " ", h("small", {}, token.id)),
      h("td", { dataset: { title: "Role" } }, token.role), h("td", { dataset: { title: "Studies" } }, token.studies?.join(", ") ?? "all"),
      h("td", { dataset: { title: "Made" } }, moment(token.created), h("br"), h("small", {}, `by ${token.created_by}`)),
      h("td", { dataset: { title: "Holds until" } }, token.revoked ? `revoked ${moment(token.revoked)}` : token.expires ? moment(token.expires) : "no end"),
      h("td", {}, !token.revoked && h("button", { type: "button", class: "small", "aria-label": `Revoke the token of ${token.user}`, onclick: () => revoke(token, load) }, "Revoke"))))));
}

async function revoke(token, load) {
  if (!(await ask(`Revoke the token of ${token.user}?`, "Whoever uses it is out at once, and their log-ins end. Nobody can take this back.", "Revoke it"))) return;
  try {
    await api.remove(`/api/tokens/${encodeURIComponent(token.id)}`);
    toast(`The token of ${token.user} is revoked.`);
    await load();
  } catch (error) { tell(error); }
}

async function make(load) {
  const user = h("input", { required: true, maxlength: 200, autocomplete: "off", "data-first": true });
  const role = choice(ROLES, {}, "operator");
  const said = h("div", {});
  const all = await everyStudy();
  const studies = h("select", { multiple: true, size: Math.min(6, Math.max(2, all.length)) }, all.map((study) => h("option", { value: study }, study)));
  const days = h("input", { type: "number", min: 1, max: 3653, inputmode: "numeric" });
  const send = async (event) => {
    event.preventDefault();
    const chosen = [...studies.selectedOptions].map((option) => option.value);
    const given = { user: user.value.trim(), role: role.value, studies: chosen.length ? chosen : null, days: days.value ? Number(days.value) : null };
    try {
      const token = await api.post("/api/tokens", given, { patience: -1 });  // not twice: nobody would know the secret of the first
      fill(box, h("header", {}, h("h2", { tabindex: "-1" }, `The token of ${token.user}`)),
        h("p", { class: "notice" }, "It is shown this once. Hand it over on a way that others cannot read."),
        h("p", {}, h("code", { class: "secret", tabindex: "0", role: "textbox", "aria-readonly": "true", "aria-label": "Token" }, token.secret)),
        h("footer", {}, h("button", { type: "button", onclick: () => copy(token.secret) }, "Copy"), h("button", { type: "button", class: "main", onclick: () => box.close() }, "Done")));
      box.querySelector("h2").focus();
      await load();
    } catch (error) { fill(said, wrong(error)); }
  };
  const box = dialog("New token", h("form", { onsubmit: send },
    field("User", user, "The name stands in the log with everything that is done."), field("Role", role),
    all.length > 0 && field("Studies", studies, "None chosen: all of them, also those to come."),
    field("Days", days, "For how many days it holds; empty: until it is revoked."), said,
    h("footer", {}, h("button", { type: "submit", class: "main" }, "Make it"))));
}

async function everyStudy() {
  try { return (await api.get("/api/studies?limit=500")).items.map((item) => item.study); } catch { return []; }
}

async function copy(text) {
  try { await navigator.clipboard.writeText(text); toast("Copied."); } catch { toast("Mark it and copy it by hand.", { kind: "wrong" }); }
}
