// Light and dark: as the system has it, or as somebody chose with the button.

import { memory } from "./places.js";

const LOOKS = ["as system", "light", "dark"];

/** Return how the page looks. */
export const look = () => (LOOKS.includes(memory.get("look")) ? memory.get("look") : LOOKS[0]);

/** Choose the next look. */
export function nextTheme() {
  memory.set("look", LOOKS[(LOOKS.indexOf(look()) + 1) % LOOKS.length]);
  wear();
}

function wear() {
  document.documentElement.dataset.theme = look() === LOOKS[0] ? "" : look();
}

wear();
