// Times as people say them. Without scripts a page shows them in UTC; in the title is always the whole.

const MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

function clock(date) {
  return date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

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
  if (date.toDateString() === now.toDateString()) return clock(date);
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return date.toLocaleDateString(undefined, { day: "numeric", month: "short", year });
}

function day(date, now) {
  const days = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / (DAY * 1000));
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return date.toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
}

function show(element, now) {
  const date = new Date(element.dateTime);
  if (Number.isNaN(date.getTime())) return;
  element.title = date.toLocaleString(undefined, { dateStyle: "full", timeStyle: "medium" });
  if (element.dataset.when === "day") {
    element.textContent = day(date, now);
    return;
  }
  element.textContent = element.dataset.when === "full" ? `${spoken(date, now)} · ${clock(date)}` : spoken(date, now);
}

export function showTimes(root) {
  const now = new Date();
  for (const element of root.querySelectorAll("time[datetime]")) show(element, now);
}

setInterval(() => showTimes(document), 30000);
