// Show a match in the viewer on any page: live while it is played, replayed from its log once the log is open.

import { BadLog, addPresentations, fetchPictures, fetchTable, make, mount, readLog } from "../viewer/match_page.js";
import { readPublic } from "./public.js";

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

/**
 * Show the match `known`, {id, status, open, header, faults, presentations}, in `root`. `source` has more of what the viewer
 * takes. For a live match, call `changed({state, open})` when its state changes and, with `played` true, when it has been
 * played to its end; return a function that stops following it.
 */
export async function showMatch(root, known, { source, changed = () => {} }) {
  addPresentations(known.presentations);
  try {
    await Promise.all([fetchTable(known.header.game), fetchPictures()]);
    if (!known.open) return await watch(root, known, { source, changed });
    mount(root, await whole(known, known.status, { source }));
  } catch (error) {
    root.replaceChildren(make("p", { class: "notice warn", role: "alert" }, error.message));
    root.classList.remove("viewer-place");
  }
  return () => {};
}

/** Return the data that the viewer shows once the log is open. Throw `BadLog`. */
async function whole({ id, faults }, status, { source }) {
  const answer = await fetch(`/api/v1/matches/${id}/log`).catch(() => {
    throw new LogUnavailable("The service cannot be reached. Reload the page in a moment.");
  });
  if (answer.status === 429 || answer.status >= 500) {
    throw new LogUnavailable(`The service is busy (status ${answer.status}). Reload the page in a moment.`);
  }
  if (answer.status === 404) throw new BadLog("The match ended before its first card: there is nothing to show.");
  if (!answer.ok) throw new BadLog(`The log could not be loaded: the service answered with status ${answer.status}.`);
  const { lines, rows, signature } = readLog(new Uint8Array(await answer.arrayBuffer()));
  return {
    header: rows[0], rows, signature, faults: faults ?? (await import("../viewer/advice.js")).ADVICE,
    lines: COUNTS.includes(status) ? lines : null, // the log of a cancelled match is incomplete
    question: async (row) => (await readPublic(`/matches/${id}/decisions/${row.row}`)).question,
    verification: () => readPublic(`/matches/${id}/verification`),
    ...source,
  };
}

/** Return the result of `whole`. While the log is unavailable, say so with `report` and retry after growing pauses. */
async function wholeInTime(known, status, page, report) {
  for (let pause = AGAIN_MS; pause <= MOST_PAUSE_MS; pause *= 2) {
    try {
      return await whole(known, status, page);
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error;
      report("The match is over. Its log is not available yet; trying again …");
    }
    await new Promise((resolve) => setTimeout(resolve, pause * (1 + Math.random())));
  }
  return whole(known, status, page);
}

/** Show a match live; when its log opens, turn the viewer into its replay. */
async function watch(root, known, page) {
  const { follow } = await import("./live.js"); // rarely needed
  const viewer = mount(root, { ...page.source, header: known.header, rows: [], live: true });
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
    after = items.at(-1)?.number ?? after;
  };
  const note = (message) => {
    noted = true;
    const before = state;
    state = message.status;
    if (state !== before) page.changed({ state, open: message.open });
    appear();
    LIVE_WORDS.live = PACES[message.pace];
    viewer.showLiveNote(message.placements ? "finished; all cards are shown when the other matches with the same cards are over" : LIVE_WORDS.live);
  };
  const end = async () => {
    if (ending) return;
    ending = true;
    unfollow();
    page.changed({ state, open: true });
    try {
      await viewer.finish(await wholeInTime(known, state, page, (words) => viewer.showLiveNote(words)));
    } catch (error) {
      viewer.showLiveNote(error.message);
    }
    page.changed({ state, open: true, played: true });
  };
  const poll = async () => {
    const rows = await readPublic(`/matches/${known.id}/rows?limit=${PAGE}${after === null ? "" : `&after=${after}`}`);
    if (rows.items.length) take(rows);
    if (rows.items.length === PAGE) return poll();
    note(rows);
    if (rows.open) end();
  };
  const onState = (how) => {
    viewer.showLiveNote(LIVE_WORDS[how]);
    if (how === "away") appear();
  };
  const unfollow = follow(`/api/v1/matches/${known.id}/stream`, { rows: take, state: note, end }, { poll, onState });
  return () => {
    unfollow();
    viewer.dispose();
  };
}
