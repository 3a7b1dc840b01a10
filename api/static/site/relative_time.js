// Say how long ago something happened.

const STEPS = [["second", 60], ["minute", 60], ["hour", 24], ["day", 7]]; // units, and how many of them are the next one
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** Say of every `<time data-relative>` under `root` how long ago it is, up to a week. */
export function relativeMoments(root) {
  for (const time of root.querySelectorAll("time[data-relative]")) {
    const text = ago(time.dateTime);
    if (text && text !== time.textContent) time.textContent = text;
  }
}

/** Return an RFC 3339 time as "2 minutes ago", or null for an earlier time than a week ago and for none. */
function ago(text) {
  let amount = Math.max(0, (Date.now() - new Date(text || NaN)) / 1000);
  for (const [unit, most] of STEPS) {
    if (amount < most) return unit === "second" ? "just now" : words.format(-Math.floor(amount), unit);
    amount /= most;
  }
  return null;
}
