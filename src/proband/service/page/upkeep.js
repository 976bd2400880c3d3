// What is done with a study as a whole: files to take away, past records to learn from, learning afresh, proofs.

import * as api from "./api.js";
import { dialog, field, fill, h, toast, wrong } from "./dom.js";
import { TABLES, tableOf } from "./editor.js";
import { count } from "./numbers.js";
import { may } from "./places.js";

/** Return the part of the dashboard about files and upkeep. */
export function upkeep(study, about) {
  const file = (what, text) => h("a", { class: "button", href: api.at(study, what), download: true }, text);
  const engineer = may("engineer");
  return h("section", { class: "panel upkeep" },
    h("h2", {}, "Files and upkeep"),
    h("div", { class: "actions" },
      file("table.csv", "Table of subjects (CSV)"), file("export", "The whole log"),
      h("a", { class: "button", href: api.at(study, "report"), target: "_blank", rel: "noopener" }, "Report"),
      engineer && button("Learn from past records …", () => records(study)),
      engineer && button("Prove the log …", () => verify(study)),
      engineer && button("Learn afresh …", () => restart(study, about))));
}

const button = (text, work) => h("button", { type: "button", onclick: work }, text);

/** Ask for something in a dialog; what goes wrong is said there. */
function form(title, parts, yes, send) {
  const said = h("div", {});
  const go = h("button", { type: "submit", class: "main" }, yes);
  const box = dialog(title, h("form", { onsubmit: async (event) => {
    event.preventDefault();
    go.disabled = true;
    fill(said);
    try { await send(box, said); } catch (error) { fill(said, wrong(error)); }
    go.disabled = false;
  } }, parts, said, h("footer", {}, go)));
  return box;
}

function records(study) {
  const file = h("input", { type: "file", accept: TABLES, required: true });
  const sheet = h("input", { maxlength: 200, autocomplete: "off" });
  const fields = [
    field("A table (CSV, .xlsx or Parquet)", file, "One column a test, one row a subject, empty where it was not run. The same table again adds nothing."),
    field("Sheet", sheet, "Its name, if it is a workbook with several."),
  ];
  form("Learn from past records", fields, "Learn", async (box) => {
    const [chosen] = file.files;
    const given = { ...(await tableOf(chosen)), source: chosen.name.slice(0, 200), sheet: sheet.value.trim() || null };
    const answer = await api.post(api.at(study, "records"), given, { key: undefined });  // a key of its own would say that it is meant once more
    toast(`${count(answer.added, "past subject")} added, ${answer.recognised} known already`);
    box.close();
  });
}

function verify(study) {
  form("Prove the log", [h("p", {}, "Every entry is looked at: that none was altered, reordered or dropped. In a long study this takes a while.")], "Prove it", async (_, said) => {
    const found = await api.get(api.at(study, "verify"));
    fill(said, h("p", {}, `Whole: ${count(found.length, "entry", "entries")}. Keep this hash elsewhere, and compare it later:`), h("p", {}, h("code", {}, found.hash)));
  });
}

function restart(study) {
  const reason = h("input", { required: true, maxlength: 2000, autocomplete: "off" });
  form("Learn afresh", [h("p", { class: "notice" }, "The agent forgets what it learned up to here; everything stays in the log."), field("Reason", reason, "Such as: new supplier.")], "Learn afresh", async (box) => {
    await api.post(api.at(study, "restart"), { reason: reason.value });
    toast("Learning begins afresh.");
    box.close();
  });
}
