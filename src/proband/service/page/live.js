// Live updates. Browsers open six connections to a service, and a stream keeps one; so the pages of a browser share
// streams. For each study that is watched, one page is elected (Web Locks) to keep a stream and to hand its events on
// (BroadcastChannel); when that page is closed, the next one takes over. At most two streams are open in a browser:
// pages of other studies look for news every few seconds, as long as they are seen.

import { at, get, pause, query } from "./api.js";

const STREAMS = 2;
const LOOK = 2500;
const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("proband events");
const lock = (what) => `proband ${what} ${location.port}`;

/** Call `told` with every list of events of a study after a number, until the signal ends it. */
export function watch(study, after, told, signal) {
  let last = after;
  const deliver = (events) => {
    const fresh = events.filter((event) => event.number > last);
    if (!fresh.length || signal.aborted) return;
    last = fresh.at(-1).number;
    told(fresh);
  };
  const share = (events) => { deliver(events); channel?.postMessage({ study, events }); };
  const look = async () => {
    for (let more = true; more && !signal.aborted;) {
      const page = await get(query(at(study, "events"), { after: last, limit: 500 }), { signal });
      share(page.items);
      more = page.next !== null;
    }
  };
  const heard = ({ data }) => { if (data.study === study) deliver(data.events); };
  const seen = () => { if (!document.hidden) look().catch(() => {}); };
  channel?.addEventListener("message", heard);
  document.addEventListener("visibilitychange", seen);
  signal.addEventListener("abort", () => {
    channel?.removeEventListener("message", heard);
    document.removeEventListener("visibilitychange", seen);
  });
  lookWhileNobodyStreams(study, look, signal).catch(() => {});
  if (navigator.locks && channel) elected(study, () => stream(study, () => last, share, look, signal), signal).catch(() => {});
}

/** Wait until this page is the one that may stream a study, and until there is a place for a stream; then work. */
function elected(study, work, signal) {
  return navigator.locks.request(`${lock("leads")} ${study}`, { signal }, async () => {
    const release = await place(signal);
    try {
      await navigator.locks.request(`${lock("streams")} ${study}`, { signal }, work);
    } finally {
      release();
    }
  });
}

/** Wait for one of the places for streams; return what gives it back. */
function place(signal) {
  return new Promise((found, failed) => {
    const asked = new AbortController();
    let taken = false;
    signal.addEventListener("abort", () => { asked.abort(); failed(signal.reason); });
    for (let n = 0; n < STREAMS; n += 1) {
      const granted = () => {
        if (taken || signal.aborted) return null;
        taken = true;
        return new Promise((release) => { found(release); asked.abort(); });
      };
      navigator.locks.request(`${lock("place")} ${n}`, { signal: asked.signal }, granted).catch(() => {});
    }
  });
}

/** Keep a stream open until the signal ends it; one that was refused is tried again, and news are looked for meanwhile. */
async function stream(study, last, share, look, signal) {
  while (!signal.aborted) {
    await new Promise((ended) => {
      const source = new EventSource(query(at(study, "stream"), { after: last() }));
      const end = () => { source.close(); ended(); };
      signal.addEventListener("abort", end, { once: true });
      source.onmessage = (message) => share([JSON.parse(message.data)]);
      source.onerror = () => { if (source.readyState === EventSource.CLOSED) end(); };
    });
    if (signal.aborted) return;
    await pause(LOOK, signal).catch(() => {});
    await look().catch(() => {});
  }
}

/** Look for news now and then while no page of this browser streams the study. */
async function lookWhileNobodyStreams(study, look, signal) {
  await look();
  while (!signal.aborted) {
    await pause(LOOK, signal);
    if (!document.hidden && !(await isStreamed(study))) await look();
  }
}

async function isStreamed(study) {
  if (!navigator.locks || !channel) return false;
  const { held } = await navigator.locks.query();
  return held.some(({ name }) => name === `${lock("streams")} ${study}`);
}
