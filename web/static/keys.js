// The keyboard: rows with j and k, places with g and a letter, and whatever a page offers by aria-keyshortcuts.

const ROWS = "main .mails > li, main .list tbody tr, main .cards > li, main .message, main [data-row]";
const SHORT = "[aria-keyshortcuts], [data-go]";
const GENERAL = [
  ["j", "Next row"], ["k", "Row before"], ["Enter", "Open it"], ["u", "Up: to the list, the project"],
  ["/", "Search"], ["Ctrl K", "Open anything"], ["g", "Go, followed by"], ["?", "These keys"], ["Esc", "Close, or leave a field"],
];
let isGoing = false;
let dialog = null;

const isTyping = (target) => target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const isVisible = (element) => element.getClientRects().length > 0;

/** What gets the focus for a row: its main link, or the row itself. */
function handleOf(row) {
  const link = row.querySelector(".what > a, th a, a.handle, a[href]");
  if (link && isVisible(link) && !row.matches(".message")) return link;
  row.tabIndex = -1;
  return row;
}

function move(step) {
  const rows = [...document.querySelectorAll(ROWS)].filter(isVisible);
  if (!rows.length) return;
  const here = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[here < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(here + step, 0), rows.length - 1)];
  const handle = handleOf(row);
  handle.focus({ preventScroll: true });
  row.scrollIntoView({ block: row.matches(".message") ? "start" : "nearest" });
}

/** From a message to its list, from there to the project, from there to all of them. */
function goUp() {
  const ways = ["main [rel~=up]", "main nav [aria-current=page]", "main nav.project a.name", "nav.side [aria-current=page]"];
  const up = ways.map((way) => document.querySelector(way)).find((link) => link && link.pathname !== location.pathname);
  location.assign(up?.href ?? "/mail");
}

/** "c", and of places "g i". */
const keysOf = (one) => one.getAttribute("aria-keyshortcuts") ?? `g ${one.dataset.go}`;
const offers = (keys) => [...document.querySelectorAll(SHORT)].filter((one) => keysOf(one) === keys && isVisible(one));

/** What was closed is opened, and its first field gets the focus. */
function unfold(details) {
  details.open = true;
  details.querySelector("textarea, select, input:not([type=hidden]), button")?.focus();
}

/** A link is followed, a button pressed, a field gets the focus. */
function use(element) {
  if (element.matches("input, textarea, select")) element.focus();
  else if (element.matches("summary")) unfold(element.parentElement);
  else element.click();
}

function addKeys(list, keys, text) {
  const row = document.createElement("div");
  const name = document.createElement("dt");
  for (const key of keys.split(" ")) {
    const cap = document.createElement("kbd");
    cap.textContent = key;
    name.append(cap, " ");
  }
  const what = document.createElement("dd");
  what.textContent = text;
  row.append(name, what);
  list.append(row);
}

const labelOf = (element) => (element.getAttribute("aria-label") ?? element.textContent).trim().replace(/\s+/g, " ");

function showKeys() {
  dialog?.remove();
  dialog = document.createElement("dialog");
  dialog.className = "keys";
  dialog.dataset.made = "";
  dialog.setAttribute("aria-label", "Keys");
  const title = document.createElement("h2");
  title.textContent = "Keys";
  const list = document.createElement("dl");
  for (const [keys, text] of GENERAL) addKeys(list, keys, text);
  const said = new Set();
  for (const one of document.querySelectorAll(SHORT)) {
    const keys = keysOf(one);
    if (said.has(keys) || !isVisible(one) || keys === "/") continue;
    said.add(keys);
    addKeys(list, keys, labelOf(one));
  }
  const close = document.createElement("button");
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  dialog.append(title, list, close);
  document.body.append(dialog);
  dialog.showModal();
}

function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") {
    document.activeElement?.blur?.();
    return;
  }
  if (isTyping(event.target)) return;
  const key = event.key.toLowerCase();
  const offered = offers(isGoing ? `g ${key}` : key);
  if (isGoing) isGoing = false;
  else if (key === "g") isGoing = true;
  else if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
  else if (key === "u") goUp();
  else if (key === "?") showKeys();
  else if (!offered.length) return;
  if (key.length === 1) event.preventDefault();
  // Of several, the one of the row that has the focus.
  if (offered.length) use(offered.find((one) => one.closest("li, tr, article")?.contains(document.activeElement)) ?? offered[0]);
}

export function startKeys() {
  const aim = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (aim instanceof HTMLDetailsElement) unfold(aim);
  document.addEventListener("keydown", onKey);
}
