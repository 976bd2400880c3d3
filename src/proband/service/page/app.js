// The frame of the page: who is logged in, where one is (the part of the address after #), and what is shown there.

import * as api from "./api.js";
import { fill, h, tell } from "./dom.js";
import { logIn } from "./login.js";
import { link, me, studyTabs } from "./places.js";
import { look, nextTheme } from "./theme.js";

const PAGES = [
  [/^\/?$/, () => import("./studies.js")],
  [/^\/new$/, () => import("./create.js")],
  [/^\/tokens$/, () => import("./tokens.js")],
  [/^\/study\/([^/]+)$/, () => import("./dashboard.js")],
  [/^\/study\/([^/]+)\/operate(?:\/([^/]+))?$/, () => import("./operate.js")],
  [/^\/study\/([^/]+)\/policy$/, () => import("./policy.js")],
  [/^\/study\/([^/]+)\/subjects(?:\/([^/]+))?$/, () => import("./subjects.js")],
  [/^\/study\/([^/]+)\/trail$/, () => import("./trail.js")],
];

const main = document.getElementById("main");
let shown = null;

/** Show what the address says. */
async function show({ focus = true } = {}) {
  shown?.abort();
  const here = (shown = new AbortController());
  for (const box of document.querySelectorAll("dialog")) box.close();
  const path = location.hash.slice(1);
  const found = PAGES.map(([pattern, load]) => [path.match(pattern), load]).find(([match]) => match);
  const parts = found ? found[0].slice(1).map((part) => part && decoded(part)) : [];
  header(parts[0]);
  if (!me.user) return stranger(here);
  try {
    const page = found ? await found[1]() : { show: nothing };
    if (here.signal.aborted) return undefined;
    fill(main);
    document.body.dataset.page = page.name ?? "";
    await page.show({ main, parts, signal: here.signal });
    document.title = [main.querySelector("h1")?.textContent, parts[0], "proband"].filter(Boolean).join(" · ");
    const free = !document.activeElement || document.activeElement === document.body;  // nobody went on meanwhile
    if (focus && free) main.querySelector("h1")?.focus();
  } catch (error) {
    if (here.signal.aborted || error.name === "AbortError") return undefined;
    failed(error);
  }
  return undefined;
}

function decoded(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

function nothing() {
  fill(main, h("h1", { tabindex: "-1" }, "There is no such page"), h("p", {}, h("a", { href: link() }, "All studies")));
}

function failed(error) {
  if (error.status === 401) return;
  const gone = error.type === "UnknownStudyError";
  const title = error.status === 403 ? "This is not for you" : gone ? "There is no such study" : error.status === 404 ? "There is no such thing" : "This cannot be shown";
  const said = gone ? "It was removed, or its name is written in another way." : error.detail ?? error.message;
  if (gone) header(null);
  fill(main, h("h1", { tabindex: "-1" }, title), h("p", { class: "wrong", role: "alert" }, said),
    h("p", {}, h("a", { href: link() }, "All studies")));
  document.title = `${title} · proband`;
}

function stranger(here) {
  fill(main);
  logIn(main, async (caller) => {
    if (here.signal.aborted) return;
    Object.assign(me, caller);
    show();
  });
  document.title = "Log in · proband";
}

function header(study) {
  const tabs = study && me.user ? studyTabs(study) : [];
  const current = location.hash.replace(/(operate|subjects)\/.*/, "$1");
  const item = ([text, where]) =>
    h("a", { href: where, "aria-current": where === current || (where === "#/" && current === "") ? "page" : null }, text);
  const own = me.user
    ? [
        h("span", { class: "who" }, me.user, " ", h("small", {}, me.role)),
        me.role === "admin" && !me.studies && item(["Tokens", link("tokens")]),
        themeButton(),
        !me.opened && h("button", { type: "button", class: "quiet", id: "logout", onclick: logOut }, "Log out"),
      ]
    : [themeButton()];
  fill(document.getElementById("top"),
    h("a", { href: "#/", class: "brand" }, h("img", { src: "/page/mark.svg", alt: "", width: 24, height: 24 }), "proband"),
    study && me.user && h("span", { class: "study-name" }, study),
    tabs.length > 0 && h("nav", { "aria-label": "Study" }, tabs.map(item)),
    h("button", { type: "button", class: "quiet menu", "aria-expanded": "false", "aria-controls": "own", onclick: menu }, "Menu"),
    h("div", { class: "own", id: "own" }, own));
}

function menu({ currentTarget: button }) {
  const open = document.getElementById("own").classList.toggle("open");
  button.setAttribute("aria-expanded", String(open));
}

function themeButton() {
  const button = h("button", { type: "button", class: "quiet", onclick: () => { nextTheme(); name(); } });
  const name = () => fill(button, h("span", { "aria-hidden": "true" }, "◐ "), h("span", { class: "unseen" }, "Colours: "), look());
  name();
  return button;
}

async function logOut() {
  try {
    await api.post("/logout", {}, { patience: 5000 });
    forget();
    show();
  } catch (error) { tell(error); }
}

function forget() {
  Object.assign(me, { user: null, role: null, studies: null, opened: false });
  api.forget();
}

async function begin() {
  api.listen({
    away: (count, writes) => {
      const kept = writes ? "What you entered is kept on this page, and sent when it is back." : "This page goes on by itself when it is back.";
      const words = count > 0 ? `The service does not answer. ${kept}` : "";
      const place = document.getElementById("away");
      if (place.textContent !== words) fill(place, words);
    },
    stranger: () => { if (me.user) { forget(); show(); } },
  });
  document.getElementById("skip").addEventListener("click", () => (main.querySelector("h1") ?? main).focus());
  try {
    Object.assign(me, await api.get("/api/me", { quiet: true }));
    me.opened = me.user === "anonymous";
  } catch (error) {
    if (error.status !== 401) tell(error);
  }
  addEventListener("hashchange", () => show());
  show({ focus: false });
}

begin();
