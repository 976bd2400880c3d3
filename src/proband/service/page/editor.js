// A text with numbered lines, read from a file in the browser or typed, with its mistakes pointed out at their lines.

import { count } from "./numbers.js";
import { field, fill, fresh, h } from "./dom.js";
import { mistakesOf } from "./mistakes.js";

const LONGEST = 200_000;

/** The files that tables are read from. */
export const TABLES = ".csv,.tsv,.txt,.xlsx,.parquet,text/csv,text/plain";

const BINARY = [[0x50, 0x4b, 0x03, 0x04], [0x50, 0x4b, 0x05, 0x06], [0x50, 0x41, 0x52, 0x31], [0xd0, 0xcf, 0x11, 0xe0]];
const isBinary = (start) => BINARY.some((begins) => begins.every((byte, i) => start[i] === byte));

/** Return how a table is sent: as a text that can be written on, or as the file that it is (.xlsx, Parquet). */
export async function tableOf(file) {
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (!isBinary(start)) return { records: await textOf(file) };
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve({ file: reader.result.slice(reader.result.indexOf(",") + 1) });
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** Read a file as text: UTF-8, UTF-16 with its mark, or else Windows-1252, as old spreadsheets write. */
export async function textOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be").decode(bytes);
  }
  if (isBinary(bytes)) throw new Error(`${file.name} is a workbook, a Parquet file or an archive; a problem is a text (TOML): choose that, or draft one from past records`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

export class Editor {
  constructor({ label, hint, accept, changed, table = false, placeholder = "" }) {
    this.changed = changed;
    this.table = table;
    this.content = null;
    this.file = h("input", { type: "file", accept, onchange: () => this.read() });
    this.file.id = fresh("file");
    this.area = h("textarea", { class: "code", rows: 14, spellcheck: "false", autocapitalize: "off", wrap: "off", placeholder, "aria-label": `${label}, the text`, oninput: () => this.edited() });
    this.chosen = h("b", { class: "chosen" });
    this.gutter = h("pre", { class: "gutter", "aria-hidden": "true" });
    this.area.addEventListener("scroll", () => { this.gutter.scrollTop = this.area.scrollTop; });
    this.said = h("div", { class: "mistakes", role: "status", id: fresh("mistakes") });
    this.area.setAttribute("aria-describedby", this.said.id);
    this.large = null;
    this.name = "";
    this.box = h("div", { class: "editor" }, this.gutter, this.area);
    this.sheet = h("input", { maxlength: 200, autocomplete: "off", oninput: () => this.changed() });
    this.sheets = h("div", { hidden: true }, field("Sheet", this.sheet, "Its name, where the workbook has several."));
    this.element = h("section", { class: "panel" },
      h("h2", {}, label), h("p", { class: "hint" }, hint),
      h("div", { class: "field" }, h("label", { for: this.file.id }, "From a file"), this.file, " ", this.chosen), this.sheets, this.box, this.said);
    this.number();
  }

  get text() { return this.large ?? this.area.value; }

  /** What is sent of a table; null where there is none. */
  get given() {
    const named = { source: (this.name || "records").slice(0, 200) };
    if (this.content !== null) return { ...named, file: this.content, sheet: this.sheet.value.trim() || null };
    return this.text.trim() ? { ...named, records: this.text } : null;
  }

  async read() {
    const [file] = this.file.files;
    if (!file) return;
    try {
      const { records, file: content } = this.table ? await tableOf(file) : { records: await textOf(file) };
      this.set(records ?? "", file.name, content);
      const away = h("button", { type: "button", class: "small quiet", onclick: () => { fill(this.chosen); this.set(""); } }, "Leave it out");
      fill(this.chosen, file.name, content !== undefined && [" ", away]);
    } catch (error) {
      fill(this.chosen);
      this.mistake(error.message);
    }
    this.file.value = "";  // so that the same file, written anew, can be chosen again
  }

  set(text, name = "", content = null) {
    this.name = name;
    this.content = content;
    this.large = text.length > LONGEST ? text : null;
    this.area.value = this.large ? "" : text;
    this.box.hidden = this.large !== null || content !== null;
    this.sheets.hidden = content === null;
    this.sheet.value = "";
    this.number();
    this.mistake(null, this.large && `${count(text.split("\n").length, "line")}: too many to be shown here.`);
    this.changed();
  }

  edited() {
    this.number();
    this.changed();
  }

  /** Number the lines; those with a mistake are marked. */
  number(wrong = new Set()) {
    const lines = this.area.value.split("\n").length;
    fill(this.gutter, Array.from({ length: lines }, (_, i) => h("span", { class: wrong.has(i + 1) ? "bad" : null }, String(i + 1))));
    this.gutter.scrollTop = this.area.scrollTop;
  }

  /** Point mistakes out, or say that there are none. */
  mistake(detail, fine = "") {
    const found = detail ? mistakesOf(detail, this.text, { numbered: this.content === null }) : [];
    this.area.setAttribute("aria-invalid", String(found.length > 0));
    this.number(new Set(found.flatMap(({ lines }) => lines)));
    const lines = this.text.split("\n");
    fill(this.said, found.length ? h("ul", { class: "plain wrong" }, found.map(({ said, lines: at }) => h("li", {},
      at.slice(0, 12).map((line) => h("button", { type: "button", class: "small quiet", disabled: this.large !== null, onclick: () => this.jump(line) }, `line ${line}`)),
      " ", said, this.large && at.length > 0 && h("code", {}, ` ${lines[at[0] - 1]?.slice(0, 80)}`)))) : fine && h("p", { class: "fine" }, fine));
  }

  /** Go to a line, and mark it. */
  jump(line) {
    const lines = this.area.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(start, start + lines[line - 1].length);
    const height = this.area.scrollHeight / lines.length;
    this.area.scrollTop = Math.max(0, (line - 4) * height);
  }
}
