// The name of the station, which this browser remembers: a station holds the subjects that it works on.

import { dialog, field, h } from "./dom.js";

/** Ask for the name of the station; null if nobody gave one. */
export function chooseStation(present) {
  return new Promise((resolve) => {
    let chosen = null;
    const input = h("input", { value: present, required: true, maxlength: 200, "data-first": true, autocomplete: "off" });
    const send = (event) => {
      event.preventDefault();
      chosen = input.value.trim() || null;
      box.close();
    };
    const box = dialog("This station",
      h("form", { onsubmit: send },
        field("Name", input, "Such as line 1. It stands in the log, and holds the subjects that it works on: others ask before they take them over."),
        h("footer", {}, h("button", { type: "submit", class: "main" }, "Be this station"))));
    input.select();
    box.addEventListener("close", () => resolve(chosen));
  });
}
