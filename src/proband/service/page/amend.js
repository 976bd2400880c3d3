// A subject, and what is put right about it later: corrections, what came to light, voiding. Each is a new event with
// its reason; what was told stays in the log.

import * as api from "./api.js";
import { choice, dialog, field, fill, h, toast, wrong } from "./dom.js";
import { cost, moment, shown, typed } from "./numbers.js";
import { may, me, memory } from "./places.js";

const WITHDRAW = "withdrawn";

/** Show a subject in a dialog. */
export async function amend(study, about, name, { note = null, station = null, changed = () => {} } = {}) {
  const place = api.at(study, "subjects", name);
  let subject = await api.get(place);
  const body = h("div", {});
  const said = h("div", {});
  const box = dialog(name, note && h("p", { class: "notice" }, note), said, body);
  const where = station ?? memory.get("station", me.user);

  let busy = false;

  /** Write something, once; what goes wrong is said in the dialog, which is in front of everything else. */
  async function send(verb, content, done) {
    if (busy) return;
    busy = true;
    fill(said);
    try {
      subject = await api.post(`${place}/${verb}`, { ...content(), station: where });
      toast(done);
      changed();
      if (subject.status === "voided") box.close();
      else draw();
    } catch (error) {
      fill(said, wrong(error));
      said.scrollIntoView({ block: "nearest" });
    } finally {
      busy = false;
    }
  }

  function draw() {
    const rest = about.problem.tests.filter((test) => !(test.name in subject.known));
    const operator = may("operator") && subject.status !== "voided";
    fill(body,
      facts(subject),
      h("h3", {}, "What is known"),
      h("ul", { class: "plain rows" }, Object.entries(subject.known).map(([test, outcome]) => row(test, outcome, operator))),
      !Object.keys(subject.known).length && h("p", {}, "Nothing yet."),
      operator && subject.status === "finished" && rest.length > 0 && revelation(rest),
      operator && voiding());
  }

  function row(test, outcome, operator) {
    const item = h("li", {}, h("span", {}, h("span", { class: "of" }, test), " ", h("b", {}, shown(outcome))));
    if (!operator) return item;
    const button = h("button", { type: "button", class: "small", "aria-label": `Correct ${test}`, onclick: () => {
      button.remove();
      const form = correction(test, outcome);
      item.append(form);
      form.querySelector("select, input").focus();
    } }, "Correct …");
    item.append(button);
    return item;
  }

  function correction(test, outcome) {
    const names = about.outcomes[test];
    const value = names
      ? choice([...names.filter((each) => each !== outcome), [WITHDRAW, "never run: withdraw it"]], { required: true })
      : h("input", { inputmode: "decimal", placeholder: "empty: withdraw it", autocomplete: "off" });
    const reason = h("input", { required: true, maxlength: 2000, autocomplete: "off" });
    const given = () => {
      if (names) return value.selectedIndex === value.options.length - 1 ? null : value.value;
      return value.value.trim() === "" ? null : typed(value.value);
    };
    return h("form", { class: "amend", onsubmit: (event) => { event.preventDefault(); send("correct", () => ({ test, outcome: given(), reason: reason.value }), `${name}: ${test} is corrected`); } },
      field(`${test} was rather`, value), field("Reason", reason), h("button", { type: "submit", class: "main" }, "Correct"));
  }

  function revelation(tests) {
    const test = choice(tests.map((each) => each.name), { required: true });
    const place_ = h("div", {});
    let value;
    const offer = () => {
      const names = about.outcomes[test.value];
      value = names ? choice(names, { required: true }) : h("input", { inputmode: "decimal", required: true, autocomplete: "off" });
      fill(place_, field("showed", value));
    };
    test.addEventListener("change", offer);
    offer();
    const given = () => (about.outcomes[test.value] ? value.value : typed(value.value));
    return h("details", {}, h("summary", {}, "Something came to light"),
      h("form", { class: "amend", onsubmit: (event) => { event.preventDefault(); send("reveal", () => ({ outcomes: { [test.value]: given() } }), `${name}: ${test.value} is known now`); } },
        field("Test", test), place_, h("button", { type: "submit", class: "main" }, "Tell it")));
  }

  function voiding() {
    const reason = h("input", { required: true, maxlength: 2000, autocomplete: "off" });
    return h("details", {}, h("summary", {}, "It does not count"),
      h("form", { class: "amend", onsubmit: (event) => { event.preventDefault(); send("void", () => ({ reason: reason.value }), `${name} is voided`); } },
        field("Reason", reason, "It stays in the log, and counts no more. Nobody can take this back."), h("button", { type: "submit", class: "danger" }, "Void it")));
  }

  draw();
  return box;
}

function facts(subject) {
  const decided = subject.decision && [h("dt", {}, "decision"), h("dd", {}, h("b", {}, subject.decision), subject.followed ? ", as advised" : ", not as advised")];
  return h("dl", { class: "facts" },
    h("dt", {}, "status"), h("dd", {}, subject.status), decided,
    h("dt", {}, "spent"), h("dd", {}, cost(subject.spent, subject.unit)),
    h("dt", {}, "tests run"), h("dd", {}, subject.ran.join(", ") || "none", subject.deviations > 0 && ` (${subject.deviations} against the advice)`),
    h("dt", {}, "arrived"), h("dd", {}, moment(subject.arrived)),
    subject.finished && [h("dt", {}, "finished"), h("dd", {}, moment(subject.finished))],
    h("dt", {}, "station"), h("dd", {}, subject.station));
}
