// Show a running match of a tournament in the viewer and, when it is over, the next one.
import { element } from "../site/dom.js";
import { describe } from "../site/next-match.js";
import { readPublic } from "../site/public.js";

const RESULT_MS = 12_000; // for which the end of a match is shown
const RUNNING = "running";
const { presentations } = JSON.parse(document.getElementById("hall").textContent);

/**
 * Return {look(), isEnding()}: `look()` shows a match of the tournament in `part` if none is shown, and `isEnding()` returns
 * whether the end of a match is being shown. Call `changed()` when `part` has appeared or disappeared.
 */
export function featureTables(tournament, part, { changed }) {
  const place = part.querySelector(".live-table");
  const title = part.querySelector("h2");
  let shown = null; // id of the match
  let looking = false;
  let ending = false;
  let stop = () => {};

  const look = async () => {
    if (shown || looking) return;
    looking = true;
    const match = await nextMatch(tournament).catch(() => null);
    if (match) await show(match);
    looking = false;
  };
  const show = async (match) => {
    const { showMatch } = await import("../site/match_viewer.js"); // only when there is a match
    shown = match.id;
    ending = false;
    title.textContent = `Live: ${describe(match)}`;
    const root = element("div", {});
    place.replaceChildren(root);
    part.hidden = false;
    changed();
    stop = await showMatch(root, matchOf(match), { source: { addressed: false }, changed: note });
  };
  const note = ({ state, open, played }) => {
    ending = state !== RUNNING;
    if (played || (ending && !open)) setTimeout(end, RESULT_MS);
  };
  const end = async () => {
    stop();
    const before = shown;
    looking = true;
    const match = await nextMatch(tournament, before).catch(() => null);
    looking = false;
    ending = false;
    if (match) return show(match);
    shown = null;
    part.hidden = true;
    place.replaceChildren();
    changed();
  };
  return { look, isEnding: () => ending };
}

/** Return the running match of the newest round at the first table, except `last`; null if there is none. */
async function nextMatch(tournament, last = null) {
  const { items } = await readPublic(`/matches?tournament=${tournament}&status=${RUNNING}&limit=100`);
  const order = ({ tournament_round: round, table, leg }) => [-round, table, leg];
  items.sort((one, other) => {
    const [mine, theirs] = [order(one), order(other)];
    const differs = mine.findIndex((number, place) => number !== theirs[place]);
    return differs < 0 ? 0 : mine[differs] - theirs[differs];
  });
  return items.find(({ id }) => id !== last) ?? null;
}

/** Return what the viewer must know about a match of the API. Players are named only if all of them may be known. */
function matchOf({ id, status, game, options, seats, time }) {
  const known = seats.every(({ name }) => name !== null);
  const players = known ? seats.map(({ bot, name, version }) => ({ bot, name, version })) : [];
  return { id, status, open: false, header: { game, options, seats: seats.length, players, time }, faults: {}, presentations };
}
