// Show a match in the viewer: live while it is played, replayed from its log once the log is open.

import { BadLog, addPresentations, fetchPictures, fetchTable, mount, readLog } from "../viewer/match_page.js";
import { element } from "./dom.js";
import { api, token } from "./session.js";

const known = JSON.parse(document.getElementById("match").textContent);
addPresentations(known.presentations);
const root = document.getElementById("viewer");
const path = `/api/v1/matches/${known.id}`;
const PAGE = 1000; // rows per request
const COUNTS = ["finished", "void"];
const AGAIN_MS = 1_000; // before the log is requested a second time
const MOST_PAUSE_MS = 64_000;
const PACES = {
  at_once: "",
  rounds: "shown at the end of each round, or after a minute",
  all_tables: "shown when all tables with the same cards have played them",
};
const LIVE_WORDS = {
  live: "", // becomes a value of PACES once the pace is known
  polling: "updated every few seconds",
  away: "not connected, reconnecting",
  over: "",
};

/** Report that a log could not be fetched now. A later request may succeed. */
class LogUnavailable extends BadLog {}

/** Return the data that the viewer shows once the log is open. Throw `BadLog`. */
async function whole(status) {
  const answer = await fetch(`${path}/log`).catch(() => {
    throw new LogUnavailable("The service cannot be reached. Reload the page in a moment.");
  });
  if (answer.status === 429 || answer.status >= 500) {
    throw new LogUnavailable(`The service is busy (status ${answer.status}). Reload the page in a moment.`);
  }
  if (answer.status === 404) throw new BadLog("The match ended before its first card: there is nothing to show.");
  if (!answer.ok) throw new BadLog(`The log could not be loaded: the service answered with status ${answer.status}.`);
  const { lines, rows } = readLog(new Uint8Array(await answer.arrayBuffer()));
  return {
    header: rows[0], rows, faults: known.faults ?? (await import("../viewer/advice.js")).ADVICE,
    lines: COUNTS.includes(status) ? lines : null, // the log of a cancelled match is incomplete
    question: async (row) => (await api("GET", `/matches/${known.id}/decisions/${row.row}`)).question,
    verification: () => api("GET", `/matches/${known.id}/verification`),
    link: location.href.split("#")[0],
    next: async () => (await import("./next-match.js")).nextMatch(known),
    botAddress: (player) => (/^bot_[0-9a-z]{26}$/.test(player.bot) ? `/bots/${player.bot}` : null),
  };
}

/** Return the result of `whole`. While the log is unavailable, say so with `report` and retry after growing pauses. */
async function wholeInTime(status, report) {
  for (let pause = AGAIN_MS; pause <= MOST_PAUSE_MS; pause *= 2) {
    try {
      return await whole(status);
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error;
      report("The match is over. Its log is not available yet; trying again …");
    }
    await new Promise((resolve) => setTimeout(resolve, pause * (1 + Math.random())));
  }
  return whole(status);
}

function refuse(error) {
  root.replaceChildren(element("p", { class: "notice warn", role: "alert" }, error.message));
  root.classList.remove("viewer-place");
}

/** Show a match live; when its log opens, turn the viewer into its replay and update the rest of the page. */
async function watch() {
  const { follow } = await import("./live.js"); // rarely needed
  let page = null;
  const renew = () => {
    page ??= import("./renewal.js").then(({ renewal }) => renewal());
    page.then((found) => found.ask(), () => {}); // without it, the page stays as it is
  };
  const viewer = mount(root, { header: known.header, rows: [], live: true });
  let after = null;
  let state = known.status;
  let noted = false;
  let ending = false;
  const appear = () => root.classList.remove("coming");
  root.dataset.own = "";
  root.classList.add("coming"); // reserves its space until it is complete
  const take = ({ items }) => {
    viewer.add(items, { missed: !noted });
    appear();
    after = items.at(-1)?.row ?? after;
  };
  const note = (message) => {
    noted = true;
    if (message.status !== state && !message.open) renew(); // once the log is open, `end` updates the page after loading it
    state = message.status;
    appear();
    LIVE_WORDS.live = PACES[message.pace];
    viewer.showLiveNote(message.placements ? "finished; all cards are shown when the other matches with the same cards are over" : LIVE_WORDS.live);
  };
  const end = async () => {
    if (ending) return;
    ending = true;
    stop();
    for (const button of document.querySelectorAll("#cancel button")) button.disabled = true;
    try {
      await viewer.finish(await wholeInTime(state, (words) => viewer.showLiveNote(words)));
    } catch (error) {
      viewer.showLiveNote(error.message);
    }
    renew();
  };
  const poll = async () => {
    const rows = await api("GET", `/matches/${known.id}/rows?limit=${PAGE}${after === null ? "" : `&after=${after}`}`);
    if (rows.items.length) take(rows);
    if (rows.items.length === PAGE) return poll();
    note(rows);
    if (rows.open) end();
  };
  const onState = (how) => {
    viewer.showLiveNote(LIVE_WORDS[how]);
    if (how === "away") appear();
  };
  const stop = follow(`${path}/stream`, { rows: take, state: note, end }, { poll, onState });
}

/** Offer signed-in users to cancel the match. Ignore an invalid token, which the account page reports. */
async function offer() {
  const { offerCancel } = await import("./cancel-friendly.js");
  const place = document.getElementById("cancel");
  place.dataset.filled = "";
  await offerCancel(place, known).catch(() => {});
}

if (token() && known.owners.length) offer();

document.querySelector(".skip[href='#viewer']").addEventListener("click", (event) => {
  const play = document.getElementById("play");
  if (play) event.preventDefault();
  play?.focus();
});

try {
  await Promise.all([fetchTable(known.header.game), fetchPictures()]);
  if (known.open) mount(root, await whole(known.status));
  else await watch();
} catch (error) {
  refuse(error);
}
