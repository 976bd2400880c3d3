// The field of the operator's page: scanners and keyboards enter here. What is entered is a subject, or the key or the
// name of a button on the active card; # before it says that it is a subject, = that it is a number that was measured.

import { ask, h } from "./dom.js";

/** Return the field. `hands` says what can be done, and waits until the active card is ready. */
export function entryField(hands) {
  const input = h("input", {
    id: "entry", name: "entry", class: "entry", type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "go",
    "aria-describedby": "entry-hint",
  });
  const form = h("form", { class: "entry-form", onsubmit: (event) => { event.preventDefault(); enter(input.value); } },
    h("label", { for: "entry" }, "Scan or type a subject"),
    h("div", { class: "row" }, input, h("button", { type: "submit", class: "main" }, "Enter")),
    h("p", { class: "hint", id: "entry-hint" }, "A new name lets a subject arrive. A key on a button, or what it says, presses it on the active subject. # before a name says that it is one, = before a number that it was measured."));

  const queue = [];
  let working = false;

  async function enter(text) {
    input.value = "";
    queue.push(text.trim());
    if (working) return;
    working = true;
    while (queue.length) {
      await hands.ready();
      await understood(queue.shift(), hands);
    }
    working = false;
    refocus();
  }

  /** Go back to the field, where there is a keyboard or a scanner; a phone would cover half of itself. */
  function refocus() {
    if (matchMedia("(pointer: fine)").matches && !document.querySelector("dialog[open]")) input.focus({ preventScroll: true });
  }

  /** Take what was typed elsewhere. */
  function take(text, { complete = true } = {}) {
    if (complete) { enter(text); return; }
    input.value += text;
    input.focus();
  }

  return { form, input, take, refocus };
}

/** A number with something after it: what is typed where a number is waited for, rather than a subject's name. */
const ALMOST = /^[-+−]?\d[\d.,]*\s*\D{0,6}$/;

async function understood(text, hands) {
  if (!text) return;
  if (text.startsWith("#") && text.length > 1) { await hands.subject(text.slice(1).trim()); return; }
  const active = hands.active();
  const number = Number(text.replace(/^=/, "").replace(",", "."));
  if (text.startsWith("=") && active && hands.wantsNumber(active) && Number.isFinite(number)) { hands.measured(active, number); return; }
  if (hands.isOpen(text)) {
    if (active && active.name !== text && active.buttons.has(text.toLowerCase())) {
      const yes = await ask(`Is ${text} a subject?`, `“${text}” is an open subject, and a key of “${active.name}”.`, "The subject");
      if (!yes) { active.press(text); return; }
    }
    await hands.subject(text);
    return;
  }
  if (active && (active.press(text) || active.say(text))) return;
  if (active && hands.wantsNumber(active) && Number.isFinite(number)) {
    const yes = await ask(`What is ${text}?`, `“${active.name}” waits for a number.`, `What was measured on ${active.name}`);
    if (yes) { hands.measured(active, number); return; }
    if (!(await ask(`Shall ${text} arrive?`, `“${text}” is no open subject.`, "It arrives"))) return;
  } else if (active && hands.wantsNumber(active) && ALMOST.test(text)) {
    const why = `“${active.name}” waits for a number, and this is none; write it as 12.5, without its unit.`;
    if (!(await ask(`Shall ${text} arrive?`, why, "It arrives"))) return;
  }
  await hands.subject(text);
}
