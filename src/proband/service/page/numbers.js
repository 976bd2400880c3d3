// Numbers, times and amounts as people read them.

/** Return a number with a few digits that matter. */
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return signed(value.toLocaleString("en"));
  if (size < 1e-6 || size >= 1e15) return powered(value, digits);
  return signed(value.toLocaleString("en", { maximumSignificantDigits: digits }));
}

/** Return a text with a true minus sign. */
const signed = (text) => text.replace("-", "−");

/** Return the number that somebody typed; throw if it is none: as JSON it would be nothing, and nothing may mean something. */
export function typed(text) {
  const value = text.trim() === "" ? NaN : Number(text.trim().replace("−", "-").replace(",", "."));
  if (!Number.isFinite(value)) throw new Error(`“${text}” is no number; write it as 12.5, without its unit.`);
  return value;
}

/** Return a sentence of the library's with true minus signs before its numbers. */
export const sentence = (text) => text?.replace(/(^|[\s(])-(?=[\d.])/g, "$1−");

/** Return a number that is very large or very small, with a power of ten. */
function powered(value, digits) {
  const [mantissa, power] = value.toExponential(digits - 1).split("e");
  const raised = [...String(Number(power))].map((each) => (each === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[each])).join("");
  return `${signed(String(Number(mantissa)))} × 10${raised}`;
}

const SCALED = /^([0-9]+(?:\.[0-9]+)?)\s*[×x*]?\s+(\S.*)$/;

/** Return what a test showed: its name, or what was measured, with all digits that matter. */
export const shown = (outcome) => (typeof outcome === "number" ? number(outcome, 12) : String(outcome));

/** Return an amount and its unit, multiplied out where the unit holds a number: 0.5 of "100 EUR/month" are 50 EUR/month. */
export function scaled(value, unit) {
  const found = SCALED.exec(unit ?? "");
  if (!found || value === null || value === undefined) return [value, found ? found[2] : unit];
  return [Number((value * Number(found[1])).toPrecision(12)), found[2]];
}

/** Return an amount with its unit. */
export function amount(value, unit) {
  const [all, name] = scaled(value, unit);
  return name ? `${number(all)} ${name}` : number(all);
}

/** Return an amount as money is written, with the digits of the smallest price; large ones need no more than two. */
export function cost(value, unit) {
  const [all, name] = scaled(value, unit);
  const text = Number.isInteger(all) ? number(all) : signed(all.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: Math.abs(all) < 100 ? 4 : 2 }));
  return name ? `${text} ${name}` : text;
}

/** Return a share in per cent. */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${value >= 99.95 || value < 10 ? Number(value.toPrecision(2)) : Math.round(value)} %`;
}

/** Return a date and time in this place's way. */
export function moment(text, { seconds = false } = {}) {
  if (!text) return "–";
  const date = typeof text === "number" ? new Date(text * 1000) : new Date(text);
  const style = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" };
  return date.toLocaleString("sv-SE", seconds ? { ...style, second: "2-digit" } : style);
}

/** Return the time of the day, with the date on other days than this one. */
export function hour(text) {
  const date = new Date(text);
  if (date.toDateString() !== new Date().toDateString()) return moment(text);
  return date.toLocaleTimeString("sv-SE", { hour: "2-digit", minute: "2-digit" });
}

/** Return how long ago something was. */
export function ago(text) {
  const seconds = Math.max(0, (Date.now() - new Date(text).getTime()) / 1000);
  for (const [size, name] of [[86400, "day"], [3600, "hour"], [60, "minute"]]) {
    const count = Math.floor(seconds / size);
    if (count >= 1) return `${count} ${name}${count > 1 ? "s" : ""} ago`;
  }
  return "just now";
}

/** Return a count with its noun. */
export const count = (n, noun, several = `${noun}s`) => `${number(n)} ${n === 1 ? noun : several}`;
