// Building the page: elements from names, attributes and children. Texts become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return an element. `on…` attributes are listeners, `dataset`, `class` and booleans are what they say. */
export function h(name, attributes = {}, ...children) {
  return built(document.createElement(name), attributes, children);
}

/** Return an element of a drawing. */
export function s(name, attributes = {}, ...children) {
  return built(document.createElementNS(SVG, name), attributes, children);
}

function built(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

/** Append children: elements, texts, numbers, lists of them; what is null or false is left out. */
export function append(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Put children in the place of all that an element has. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

let counted = 0;

/** Return an id that no other element has. */
export const fresh = (what) => `${what}-${(counted += 1)}`;

/** Return a field with its label above it. */
export function field(label, input, hint) {
  input.id ||= fresh("field");
  const below = hint && h("p", { class: "hint", id: `${input.id}-hint` }, hint);
  if (below) input.setAttribute("aria-describedby", below.id);
  return h("div", { class: "field" }, h("label", { for: input.id }, label), input, below);
}

/** Return a choice among values; each is a value, or a pair of value and text. */
export function choice(options, attributes = {}, chosen = undefined) {
  const made = h("select", attributes);
  for (const option of options) {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    made.append(h("option", { value, selected: value === chosen }, text));
  }
  return made;
}

/** Say something that was done, for some seconds, with an action that takes it back where there is one. */
export function toast(text, { kind = "done", action = null, label = "Undo", seconds = 8 } = {}) {
  const place = document.getElementById("toasts");
  const note = h("div", { class: `toast ${kind}` }, h("span", {}, text));
  const gone = () => note.remove();
  if (action) note.append(h("button", { type: "button", class: "quiet", onclick: () => { gone(); action(); } }, label));
  note.append(h("button", { type: "button", class: "quiet", "aria-label": "Close this message", onclick: gone }, "×"));
  for (const old of [...place.children]) if (old.className === note.className || place.children.length > 2) old.remove();
  place.append(note);
  if (kind !== "wrong") setTimeout(gone, seconds * 1000);
  return gone;
}

/** Say what went wrong, in the words of the library. */
export const tell = (error) => {
  if (error.name !== "AbortError") toast(error.detail ?? error.message, { kind: "wrong" });
};

/** Open a dialog, and return it; it is gone when it is closed, and the focus goes back to where it was. */
export function dialog(title, ...content) {
  const heading = h("h2", { id: fresh("title"), tabindex: "-1" }, title);
  const close = h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => box.close() }, "×");
  const box = h("dialog", { "aria-labelledby": heading.id }, h("header", {}, heading, close), ...content);
  const before = document.activeElement;
  box.addEventListener("close", () => {
    box.remove();
    if (before?.isConnected) before.focus();
  });
  document.body.append(box);
  box.showModal();
  (box.querySelector("[data-first]") ?? heading).focus();
  return box;
}

/** Ask, and return whether the answer was yes. No button has the focus at first: a scanner's Enter answers nothing. */
export function ask(title, text, yes) {
  return new Promise((resolve) => {
    let answer = false;
    const go = () => { answer = true; box.close(); };
    const box = dialog(
      title,
      h("p", {}, text),
      h("footer", {},
        h("button", { type: "button", onclick: () => box.close() }, "Cancel"),
        h("button", { type: "button", class: "main", onclick: go }, yes)),
    );
    box.addEventListener("close", () => resolve(answer));
  });
}

/** Return a heading with what stands beside it. */
export function heading(text, ...beside) {
  return h("div", { class: "heading" }, h("h1", { tabindex: "-1" }, text), h("div", { class: "beside" }, beside));
}

/** Return a few words about something that is being waited for. */
export const waiting = (text = "One moment …") => h("p", { class: "waiting", role: "status" }, text);

/** Return what is said where something went wrong. */
export const wrong = (error) => h("p", { class: "wrong", role: "alert" }, error.detail ?? error.message);

/** Return a function that is called at most once in so many milliseconds, and once after the last call. */
export function seldom(work, milliseconds) {
  let timer = null;
  let again = false;
  const run = async () => {
    again = false;
    try { await work(); } catch (error) { tell(error); }
    timer = setTimeout(() => { timer = null; if (again) call(); }, milliseconds);
  };
  const call = () => {
    if (timer !== null) { again = true; return; }
    timer = 0;
    run();
  };
  return call;
}
