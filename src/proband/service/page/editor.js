// A text with numbered lines, read from a file in the browser or typed, with its mistakes pointed out at their lines.

import { count } from "./numbers.js";
import { fill, fresh, h } from "./dom.js";
import { mistakesOf } from "./mistakes.js";

const LONGEST = 200_000;

/** Read a file as text: UTF-8, UTF-16 with its mark, or else Windows-1252, as old spreadsheets write. */
export async function textOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be").decode(bytes);
  }
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) throw new Error(`${file.name} is a workbook or an archive; save the sheet as CSV, and choose that`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

export class Editor {
  constructor({ label, hint, accept, changed, placeholder = "" }) {
    this.changed = changed;
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
    this.element = h("section", { class: "panel" },
      h("h2", {}, label), h("p", { class: "hint" }, hint),
      h("div", { class: "field" }, h("label", { for: this.file.id }, "From a file"), this.file, " ", this.chosen), this.box, this.said);
    this.number();
  }

  get text() { return this.large ?? this.area.value; }

  async read() {
    const [file] = this.file.files;
    if (!file) return;
    try {
      this.set(await textOf(file), file.name);
      fill(this.chosen, file.name);
    } catch (error) {
      fill(this.chosen);
      this.mistake(error.message);
    }
    this.file.value = "";  // so that the same file, written anew, can be chosen again
  }

  set(text, name = "") {
    this.name = name;
    this.large = text.length > LONGEST ? text : null;
    this.area.value = this.large ? "" : text;
    this.box.hidden = this.large !== null;
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
    const found = detail ? mistakesOf(detail, this.text) : [];
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
