// Convert times to the reader's time zone. Without JavaScript they stay in UTC.

const short = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" }); // the format of the server

/** Convert every `<time data-moment>` under `root`; the time in UTC becomes its title. */
export function localMoments(root) {
  for (const time of root.querySelectorAll("time[data-moment]")) {
    time.title ||= time.textContent;
    time.textContent = moment(time.dateTime);
  }
}

/** Return an RFC 3339 time in local time, or a dash for none. */
export function moment(text) {
  const at = new Date(text ?? NaN);
  return Number.isNaN(at.valueOf()) ? "–" : short.format(at);
}
