// What changes on the server appears on the page: an event says that something has, the page is asked for again, and what
// differs is put in its place. A page that nobody looks at does not listen, and looks again when somebody does.

import { showCopyButtons } from "./copy.js";
import { isInUse, patch } from "./patch.js";
import { showTimes } from "./times.js";

// A busy server is asked less often: a quarter of the time may go into looks, and what was not used is saved up to a limit,
// so that what happens now and then appears at once.
const SHARE = 0.25;
const SAVED_MS = 500;
const PARTS = ["nav.side", "main", ".top .end"];
const address = location.pathname + location.search;
let shown = document.body.dataset.live;
let events = null;
let isBusy = false;
let isWanted = false;
let saved = SAVED_MS;
let savedAt = performance.now();
let fresh = [];

function say(text) {
  let told = document.querySelector(".connection");
  if (!told) {
    told = document.createElement("span");
    told.className = "connection";
    told.setAttribute("role", "status");
    told.dataset.made = "";
    document.querySelector(".top .end")?.prepend(told);
  }
  told.textContent = text;
}

/** A row that is to stay where it is, when what is above it grows. */
function findAnchor() {
  if (scrollY < 1) return null;
  const top = document.querySelector(".top")?.getBoundingClientRect().bottom ?? 0;
  for (const row of document.querySelectorAll("main li, main tr, main article, main section, main p")) {
    const box = row.getBoundingClientRect();
    if (box.height > 0 && box.top >= top) return { row, top: box.top };
  }
  return null;
}

function show(next) {
  const anchor = findAnchor();
  const root = document.documentElement;
  const added = [];
  root.style.overflowAnchor = "none";
  for (const part of PARTS) {
    const live = document.querySelector(part);
    const wanted = next.querySelector(part);
    if (!live || !wanted) continue;
    added.push(...patch(live, wanted));
    showTimes(live);
  }
  for (const one of fresh) one.classList.remove("fresh");
  fresh = added;
  for (const one of fresh) {
    one.classList.add("fresh");
    showCopyButtons(one);
  }
  // Forms that are in use are sent with what the server takes now.
  const csrf = next.querySelector("input[name=csrf]")?.value;
  for (const field of document.querySelectorAll("input[name=csrf]")) if (csrf) field.value = csrf;
  if (document.title !== next.title) document.title = next.title;
  if (anchor?.row.isConnected) scrollBy({ top: anchor.row.getBoundingClientRect().top - anchor.top, behavior: "instant" });
  root.style.overflowAnchor = "";
  document.dispatchEvent(new Event("mailroom-shown"));
}

const sheet = (page) => page.querySelector("link[rel=stylesheet]")?.getAttribute("href");

async function look() {
  const response = await fetch(address, { headers: { Accept: "text/html" }, cache: "no-store" });
  if (response.redirected || response.status === 401) {
    stop();
    say("Signed out: load the page again");
    return;
  }
  if (!response.ok) return;
  const next = new DOMParser().parseFromString(await response.text(), "text/html");
  if (next.body.dataset.live === undefined) return;
  shown = next.body.dataset.live;
  // The server is another version now.
  if (sheet(next) !== sheet(document) && !isInUse(document.body)) location.reload();
  else show(next);
}

/** How long to wait until the next look, after one that took so long. */
function restAfter(took) {
  const now = performance.now();
  saved = Math.min(SAVED_MS, saved + (now - savedAt) * SHARE) - took;
  savedAt = now;
  return Math.max(0, -saved / SHARE);
}

async function refresh() {
  isWanted = true;
  if (isBusy) return;
  isBusy = true;
  while (isWanted) {
    isWanted = false;
    const begun = performance.now();
    try {
      await look();
    } catch {
      // The stream says whether the server can be reached, and when it can again.
    }
    const rest = restAfter(performance.now() - begun);
    if (rest > 0) await new Promise((done) => setTimeout(done, rest));
  }
  isBusy = false;
}

function stop() {
  events?.close();
  events = null;
}

function start() {
  if (events || document.hidden) return;
  events = new EventSource("/mail/live");
  events.addEventListener("open", () => say(""));
  events.addEventListener("error", () => say("Not connected"));
  events.addEventListener("change", (event) => {
    if (event.data !== shown) refresh();
  });
}

export function startLive() {
  if (shown === undefined) return;
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : start()));
  addEventListener("pagehide", stop);
  addEventListener("pageshow", start);
  start();
}
