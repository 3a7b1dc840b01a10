// Moments of time as the reader's clock shows them; without script they stay in UTC.

const short = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" }); // in the server's words

/** Rewrites every `<time data-moment>` under `root`; the moment in UTC stays as its title. */
export function localMoments(root) {
  for (const time of root.querySelectorAll("time[data-moment]")) {
    time.title ||= time.textContent;
    time.textContent = moment(time.dateTime);
  }
}

/** An RFC 3339 moment in words, or a dash for none. */
export function moment(text) {
  const at = new Date(text ?? NaN);
  return Number.isNaN(at.valueOf()) ? "–" : short.format(at);
}
