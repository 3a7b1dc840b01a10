// Show whether a page is up to date.

const WORDS = {
  live: "live",
  polling: "updated every few seconds",
  renewed: "up to date",
  away: "reconnecting",
  over: "finished",
};

/** Show the state in every `[data-live]` of the page. */
export function markLive(state) {
  for (const mark of document.querySelectorAll("[data-live]")) {
    mark.hidden = false;
    mark.dataset.live = state;
    const text = mark.querySelector("[data-live-text]");
    if (text) text.textContent = WORDS[state];
  }
}
