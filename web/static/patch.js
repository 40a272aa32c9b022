// Makes a part of the page like another one that the server has sent, and touches only what differs: what somebody types
// into, where the focus is, what is selected and what scripts have added ([data-made]) stay.

const HELD = new Set(["open", "tabindex", "style"]);
// Of a row: what the server sent when it was last made like that. When it sends the same again, nothing is to be done.
const sent = new WeakMap();

function isDirty(control) {
  if (control.type === "checkbox" || control.type === "radio") return control.checked !== control.defaultChecked;
  if (control instanceof HTMLSelectElement) {
    const options = [...control.options];
    const chosen = options.some((option) => option.defaultSelected);
    return options.some((option, i) => option.selected !== (chosen ? option.defaultSelected : i === 0));
  }
  return control.type !== "hidden" && "defaultValue" in control && control.value !== control.defaultValue;
}

/** Does somebody type here, or has something been typed or chosen that was not sent? */
export function isInUse(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return false;
  const controls = node.matches("input, textarea, select") ? [node] : [...node.querySelectorAll("input, textarea, select")];
  return controls.some((control) => control === document.activeElement || isDirty(control));
}

const isMade = (node) => node.nodeType === Node.ELEMENT_NODE && node.hasAttribute("data-made");

/** What names an element among its siblings: a row of a list is named by the first link in it. */
function keyOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return null;
  if (node.id) return `#${node.id}`;
  if (node.dataset.key) return node.dataset.key;
  if (node.matches("li, tr, article")) return node.querySelector("a[href]")?.getAttribute("href") ?? null;
  return null;
}

const isLike = (one, other) => one.nodeName === other.nodeName && keyOf(one) === keyOf(other);

function patchAttributes(live, wanted) {
  for (const { name, value } of [...wanted.attributes]) {
    if (!HELD.has(name) && live.getAttribute(name) !== value) live.setAttribute(name, value);
  }
  for (const { name } of [...live.attributes]) {
    if (!HELD.has(name) && !wanted.hasAttribute(name)) live.removeAttribute(name);
  }
}

function drop(node) {
  if (!isMade(node) && !isInUse(node)) node.remove();
}

/** The sibling from `at` on that becomes `wanted`; what is in its way and will not be wanted again goes. */
function findMatch(at, wanted, live, names) {
  const key = keyOf(wanted);
  if (key && live.has(key)) {
    const found = live.get(key);
    live.delete(key);
    while (at && at !== found && !names.has(keyOf(at))) {
      const after = at.nextSibling;
      drop(at);
      at = after;
    }
    return isLike(found, wanted) ? found : null;
  }
  if (key) return null;
  for (let node = at; node; node = node.nextSibling) {
    if (isMade(node) || !isLike(node, wanted)) continue;
    while (at !== node && !isMade(at) && !keyOf(at) && !isInUse(at)) {
      const after = at.nextSibling;
      at.remove();
      at = after;
    }
    return node;
  }
  return null;
}

function patchChildren(parent, wantedParent, fresh) {
  const live = new Map();
  const names = new Set();
  for (const child of parent.children) if (keyOf(child)) live.set(keyOf(child), child);
  for (const child of wantedParent.children) if (keyOf(child)) names.add(keyOf(child));
  let before = null;
  for (const wanted of [...wantedParent.childNodes]) {
    let at = before ? before.nextSibling : parent.firstChild;
    while (at && isMade(at)) at = at.nextSibling;
    const match = findMatch(at, wanted, live, names);
    at = before ? before.nextSibling : parent.firstChild;
    if (!match) {
      const added = document.importNode(wanted, true);
      parent.insertBefore(added, at);
      if (keyOf(added)) {
        fresh.push(added);
        sent.set(added, wanted);
      }
      before = added;
      continue;
    }
    if (match !== at && !(at && isMade(at))) parent.insertBefore(match, at);
    if (!sent.get(match)?.isEqualNode(wanted)) patch(match, wanted, fresh);
    if (keyOf(wanted)) sent.set(match, wanted);
    before = match;
  }
  for (let node = before ? before.nextSibling : parent.firstChild; node;) {
    const after = node.nextSibling;
    drop(node);
    node = after;
  }
}

/** Make `live` like `wanted`, of the same kind. Elements that are new and have a name are added to `fresh`. */
export function patch(live, wanted, fresh = []) {
  if (live.nodeType !== Node.ELEMENT_NODE) {
    if (live.nodeValue !== wanted.nodeValue) live.nodeValue = wanted.nodeValue;
    return fresh;
  }
  if (live.matches("input, textarea, select") && isInUse(live)) return fresh;
  // Its text is what a script made of the time.
  if (live.nodeName === "TIME" && live.getAttribute("datetime") === wanted.getAttribute("datetime")) return fresh;
  patchAttributes(live, wanted);
  if (live.nodeName === "TEXTAREA") live.defaultValue = wanted.defaultValue;
  else patchChildren(live, wanted, fresh);
  return fresh;
}
