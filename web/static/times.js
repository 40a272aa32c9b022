// Times as people say them. Without scripts a page shows them in UTC; in the title is always the whole.

const MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

// To make a format takes as long as to use it a hundred times.
const formats = {
  clock: new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" }),
  date: new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" }),
  dated: new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" }),
  day: new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" }),
  whole: new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" }),
};

/** "5 min", "14:20", "3 Nov", and of what is to come "in 40 min". */
export function spoken(date, now) {
  const seconds = Math.round((now - date) / 1000);
  if (seconds < 0) {
    const left = -seconds;
    return left < HOUR ? `in ${Math.max(1, Math.round(left / MINUTE))} min`
      : left < 2 * DAY ? `in ${Math.round(left / HOUR)} h` : `in ${Math.round(left / DAY)} days`;
  }
  if (seconds < MINUTE) return "now";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (date.toDateString() === now.toDateString()) return formats.clock.format(date);
  return (date.getFullYear() === now.getFullYear() ? formats.date : formats.dated).format(date);
}

function day(date, now) {
  const days = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / (DAY * 1000));
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return formats.day.format(date);
}

function textOf(element, date, now) {
  if (element.dataset.when === "day") return day(date, now);
  const text = spoken(date, now);
  return element.dataset.when === "full" ? `${text} · ${formats.clock.format(date)}` : text;
}

const titled = new WeakMap();

function show(element, now) {
  const date = new Date(element.dateTime);
  if (Number.isNaN(date.getTime())) return;
  if (titled.get(element) !== element.dateTime) {
    element.title = formats.whole.format(date);
    titled.set(element, element.dateTime);
  }
  const text = textOf(element, date, now);
  if (element.textContent !== text) element.textContent = text;
}

export function showTimes(root) {
  const now = new Date();
  for (const element of root.querySelectorAll("time[datetime]")) show(element, now);
}

setInterval(() => showTimes(document), 30000);
