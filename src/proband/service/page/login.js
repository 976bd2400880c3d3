// Logging in: a token in exchange for a cookie that only the service can read.

import * as api from "./api.js";
import { field, h } from "./dom.js";

/** Show the form; `known` is called with who it is. */
export function logIn(main, known) {
  const token = h("input", { name: "token", type: "password", autocomplete: "current-password", required: true, spellcheck: "false" });
  const said = h("p", { class: "wrong", role: "alert", hidden: true });
  const send = async (event) => {
    event.preventDefault();
    try {
      known(await api.post("/login", { token: token.value.trim() }, { quiet: true }));
    } catch (error) {
      said.textContent = error.detail ?? error.message;
      said.hidden = false;
      token.select();
    }
  };
  main.append(
    h("form", { class: "log-in panel", onsubmit: send },
      h("h1", { tabindex: "-1" }, "Log in"),
      h("p", {}, "Which test next, when to stop, what to decide, and why."),
      field("Token", token, "An admin makes one: proband token create, or on the page Tokens. Who started the service on this machine opens the link that it printed."),
      said,
      h("button", { type: "submit", class: "main" }, "Log in")),
  );
  token.focus();
}
