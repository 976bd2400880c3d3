// Asking the service. While it does not answer, what was asked is asked again, a write under its own key, so that it
// is recorded once; the page says so meanwhile.

/** An error as the service tells it. */
export class Refusal extends Error {
  constructor(status, told) {
    super(told.detail ?? `the service answered with ${status}`);
    this.status = status;
    this.detail = this.message;
    this.type = (told.type ?? "").split(":").pop();
  }
}

const BUSY = [502, 503, 504];
const PATIENCE = 10 * 60_000;
const PAUSES = [300, 700, 1500, 3000];

let unanswered = 0;
let onAway = () => {};
let onStranger = () => {};

/** Say who is told when the service does not answer, and when it does not know the caller (any more). */
export function listen({ away, stranger }) {
  [onAway, onStranger] = [away, stranger];
}

/** Return a new idempotency key. */
export function key() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page ${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Return the path of something in a study. */
export const at = (study, ...parts) => ["/api/studies", ...[study, ...parts].map(encodeURIComponent)].join("/");

/** Return a path with a query; what is null or empty is left out, a list is given several times. */
export function query(path, options) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) {
    for (const each of [value].flat()) {
      if (each !== null && each !== undefined && (each !== "" || Array.isArray(value))) given.append(name, each);
    }
  }
  const text = given.toString();
  return text ? `${path}?${text}` : path;
}

export const get = (path, options = {}) => call("GET", path, options);
export const post = (path, body, options = {}) => call("POST", path, { body, key: key(), ...options });
export const remove = (path, options = {}) => call("DELETE", path, options);

/** Ask once; an answer that is an error is thrown as a Refusal, and no answer as a TypeError. */
async function once(method, path, { body, key, signal }) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key !== undefined) headers["Idempotency-Key"] = key;
  const sent = { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) };
  const answer = await fetch(path, { ...sent, credentials: "same-origin", cache: "no-store" });
  const content = await answer.text();
  let told = {};
  try { told = content ? JSON.parse(content) : {}; } catch { /* a proxy in between speaks HTML */ }
  if (answer.ok) return told;
  throw new Refusal(answer.status, told);
}

async function call(method, path, options) {
  const end = Date.now() + (options.patience ?? PATIENCE);
  let waits = false;
  try {
    for (let tries = 0; ; tries += 1) {
      try {
        return await once(method, path, options);
      } catch (error) {
        if (error.name === "AbortError" || options.signal?.aborted) throw error;
        if (error.status === 401 && !options.quiet) onStranger();
        const silent = error instanceof TypeError;
        if (!(silent || BUSY.includes(error.status))) throw error;
        if (Date.now() > end) throw silent ? new Refusal(0, { detail: "The service does not answer; try again when it is back." }) : error;
        if (!waits) { waits = true; unanswered += 1; onAway(unanswered, method !== "GET"); }
        await pause(PAUSES[Math.min(tries, PAUSES.length - 1)], options.signal);
      }
    }
  } finally {
    if (waits) { unanswered -= 1; onAway(unanswered, false); }
  }
}

/** Wait; ends early, with an error, when the signal says so. */
export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => { clearTimeout(timer); reject(new DOMException("ended", "AbortError")); };
    const timer = setTimeout(() => { signal?.removeEventListener("abort", stop); resolve(); }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Return something as soon as it is there, from what was kept by an earlier call if there is any. */
const kept = new Map();
export function about(study, { anew = false } = {}) {
  if (anew || !kept.has(study)) {
    const asked = get(at(study));
    kept.set(study, asked);
    asked.catch(() => kept.delete(study));
  }
  return kept.get(study);
}

export const forget = () => kept.clear();
