// The palette: Ctrl-K opens whatever has a page, by a few letters of its name. Places and the page's own links are known
// here; projects and agents are found by the server, on the page /mail/open.

const WAIT_MS = 60;
const LINKS = "nav.side a[href], main .tabs a[href], main nav a[href], main [aria-keyshortcuts][href]";
let dialog, field, list, hint;
let chosen = 0;
let asked = 0;

const textOf = (element) => element?.textContent.trim().replace(/\s+/g, " ") ?? "";

/** Are the letters in it, in this order? Lower is better: together, and at the beginning of a word. */
function distance(name, letters) {
  const text = name.toLowerCase();
  const at = text.indexOf(letters);
  if (at >= 0) return at === 0 || /\W/.test(text[at - 1]) ? 0 : 1;
  let from = 0;
  for (const letter of letters) {
    from = text.indexOf(letter, from) + 1;
    if (!from) return Infinity;
  }
  return 2;
}

function ownLinks(letters) {
  const seen = new Map();
  for (const link of document.querySelectorAll(LINKS)) {
    const name = textOf(link);
    const far = distance(name, letters);
    if (!name || seen.has(link.href) || far === Infinity) continue;
    seen.set(link.href, { name, about: "", kind: link.closest("nav.side") ? "place" : "this page", href: link.href, far });
  }
  return [...seen.values()].sort((a, b) => a.far - b.far);
}

function option(item, i) {
  const row = document.createElement("li");
  row.id = `palette-${i}`;
  row.setAttribute("role", "option");
  row.dataset.href = item.href;
  for (const [kind, text] of [["name", item.name], ["dim", item.about], ["kind", item.kind]]) {
    const part = document.createElement("span");
    part.className = kind;
    part.textContent = text;
    row.append(part);
  }
  return row;
}

function choose(at) {
  const rows = [...list.children];
  chosen = rows.length ? (at + rows.length) % rows.length : 0;
  rows.forEach((row, i) => row.setAttribute("aria-selected", i === chosen));
  rows[chosen]?.scrollIntoView({ block: "nearest" });
  if (rows.length) field.setAttribute("aria-activedescendant", rows[chosen].id);
  else field.removeAttribute("aria-activedescendant");
}

function show(items) {
  const query = field.value.trim();
  if (query) items.push({ name: `Search all mail for “${query}”`, about: "", kind: "search", href: `/mail/search?query=${encodeURIComponent(query)}` });
  list.replaceChildren(...items.map(option));
  hint.hidden = items.length > 0;
  choose(0);
}

async function find(query, own) {
  const mine = ++asked;
  await new Promise((done) => setTimeout(done, WAIT_MS));
  if (mine !== asked) return;
  const response = await fetch(`/mail/open?limit=8&query=${encodeURIComponent(query)}`, { headers: { Accept: "text/html" } });
  if (mine !== asked || !response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const found = [...page.querySelectorAll("#found > li")].map((row) => {
    const link = row.querySelector(".what > a");
    return { name: textOf(row.querySelector(".who")), about: textOf(link), kind: textOf(row.querySelector(".end")), href: link.href };
  });
  show([...own, ...found]);
}

function refresh() {
  const query = field.value.trim();
  const own = ownLinks(query.toLowerCase());
  show([...own]);
  find(query, own).catch(() => {});
}

function open(row, elsewhere) {
  if (!row) return;
  dialog.close();
  if (elsewhere) window.open(row.dataset.href, "_blank", "noopener");
  else location.assign(row.dataset.href);
}

function onKey(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) choose(chosen + step);
  else if (event.key === "Enter") open(list.children[chosen], event.ctrlKey || event.metaKey);
  else return;
  event.preventDefault();
}

function build() {
  dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.dataset.made = "";
  dialog.setAttribute("aria-label", "Open anything");
  field = document.createElement("input");
  field.placeholder = "Open a place, a project, an agent";
  for (const [name, value] of [["role", "combobox"], ["aria-label", "Open a place, a project, an agent"], ["aria-expanded", "true"],
    ["aria-controls", "palette-list"], ["aria-autocomplete", "list"], ["autocomplete", "off"], ["spellcheck", "false"]])
    field.setAttribute(name, value);
  list = document.createElement("ul");
  list.id = "palette-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "What can be opened");
  hint = document.createElement("p");
  hint.textContent = "Nothing is called so.";
  field.addEventListener("input", refresh);
  dialog.addEventListener("keydown", onKey);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
    else open(event.target.closest("li"), event.ctrlKey || event.metaKey);
  });
  dialog.append(field, list, hint);
  document.body.append(dialog);
}

function toggle() {
  if (!dialog) build();
  if (dialog.open) {
    dialog.close();
    return;
  }
  document.querySelector("dialog[open]")?.close();
  field.value = "";
  dialog.showModal();
  field.focus();
  refresh();
}

export function startPalette() {
  // Places that one must be signed in for.
  if (!document.querySelector("nav.side a")) return;
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    toggle();
  });
  for (const button of document.querySelectorAll("[data-palette]")) button.addEventListener("click", toggle);
}
