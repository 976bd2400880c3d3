// Numbers, times and amounts as people read them.

/** Return a number with a few digits that matter. */
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(Math.max(0, digits - 2));
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/** Return an amount with its unit. */
export const amount = (value, unit) => (unit ? `${number(value)} ${unit}` : number(value));

/** Return an amount as money is written, with the digits of the smallest price. */
export const cost = (value, unit) => {
  const text = Number.isInteger(value) ? number(value) : value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 4 });
  return unit ? `${text} ${unit}` : text;
};

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
