// Show a match on its page: the viewer, the rest of the page as it changes, and what signed-in users may do.

import { showMatch } from "./match_viewer.js";

const known = JSON.parse(document.getElementById("match").textContent);
let page = null;

/** Update the rest of the page. While a log is open but not yet shown, wait for the viewer. */
function renew({ open, played }) {
  if (open && !played) {
    for (const button of document.querySelectorAll("#cancel button")) button.disabled = true;
    return;
  }
  page ??= import("./renewal.js").then(({ renewal }) => renewal());
  page.then((found) => found.ask(), () => {}); // without it, the page stays as it is
}

/** Offer signed-in users to cancel the match. Ignore an invalid token, which the account page reports. */
async function offer() {
  const { token } = await import("./session.js");
  if (!token()) return;
  const { offerCancel } = await import("./cancel-friendly.js");
  const place = document.getElementById("cancel");
  place.dataset.filled = "";
  await offerCancel(place, known).catch(() => {});
}

if (known.owners.length && storesAnything()) offer();

/** Return whether there may be a token; most visitors store nothing. */
function storesAnything() {
  try {
    return sessionStorage.length + localStorage.length > 0;
  } catch {
    return false; // the browser refuses storage
  }
}

document.querySelector(".skip[href='#viewer']").addEventListener("click", (event) => {
  const play = document.getElementById("play");
  if (play) event.preventDefault();
  play?.focus();
});

await showMatch(document.getElementById("viewer"), known, {
  changed: renew,
  source: {
    link: location.href.split("#")[0],
    embed: `${location.origin}/embed${location.pathname}`,
    showsResult: false, // the page has a table of its seats
    next: async () => (await import("./next-match.js")).nextMatch(known),
    botAddress: (player) => (/^bot_[0-9a-z]{26}$/.test(player.bot) ? `/bots/${player.bot}` : null),
  },
});
