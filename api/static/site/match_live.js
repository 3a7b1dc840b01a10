// Show a match in the viewer while it is played.

import { mount } from "../viewer/match_page.js";
import { follow } from "./live.js";
import { LogUnavailable, whole } from "./match_viewer.js";
import { readPublic } from "./public.js";

const PAGE = 1000; // rows per request
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

/** Show a match live; when its log opens, turn the viewer into its replay. Return a function that stops it. */
export async function watch(root, known, page) {
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
