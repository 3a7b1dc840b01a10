// Update the list of the newest results of a tournament.
import { element } from "./dom.js";
import { emblem } from "./emblem.js";
import { statePill } from "./labels.js";
import { readPublic } from "./public.js";

const FLUSH_MS = 2_000; // between two changes of the list

/** Return the list of this page, or null if it has none. */
export function newest(tournamentId) {
  const list = document.getElementById("newest");
  if (!list) return null;
  list.dataset.own = "";
  const most = Number(list.dataset.most);
  const names = new Map();
  const waiting = [];
  let timer = 0;
  let flushed = Promise.resolve(); // flushes run one after the other, to keep the order

  const isRead = () => list.matches(":hover") || list.contains(document.activeElement);
  const flush = async () => {
    timer = 0;
    if (isRead()) return plan(); // nothing moves under the pointer
    const found = waiting.splice(0).slice(-most);
    for (const match of found) {
      const unknown = match.bots.some((bot) => !names.has(bot));
      if (unknown) learn((await readPublic(`/matches/${match.id}`).catch(() => null))?.seats ?? []);
    }
    put(found);
  };
  const plan = () => {
    timer ||= setTimeout(() => (flushed = flushed.then(flush)), FLUSH_MS);
  };
  const learn = (seats) => seats.forEach((seat) => seat.bot && names.set(seat.bot, seat.name));
  const put = (found) => {
    const added = new Map(found.map((match) => [match.id, match]));
    const old = [...list.children].filter((shown) => !added.has(shown.dataset.match));
    list.replaceChildren(...[...[...added.values()].reverse().map((match) => line(match, names)), ...old].slice(0, most));
    document.querySelector("[data-no-results]").hidden = list.childElementCount > 0;
  };

  return {
    know: (more) => more.forEach((name, bot) => names.set(bot, name)),
    /** Add a match from the stream. */
    add(match) {
      waiting.push(match);
      plan();
    },
    /** Reload the list, for matches that ended while the stream was not connected. */
    async renew() {
      const found = (await ended(tournamentId)).slice(-most);
      found.forEach((match) => learn(match.seats));
      put(found.map((match) => ({ ...match, bots: match.seats.map(({ bot }) => bot), placements: match.seats.map(({ placement }) => placement) })));
    },
  };
}

/** Return finished matches of the tournament, newest last. */
async function ended(tournamentId) {
  const { items } = await readPublic(`/matches?tournament=${tournamentId}&status=finished&limit=100`);
  return items.sort((one, other) => (one.finished_at < other.finished_at ? -1 : 1));
}

function line(match, names) {
  const where = `Round ${match.tournament_round}, table ${match.table}`;
  const leg = match.leg > 1 ? `, leg ${match.leg}` : "";
  const seats = match.bots.map((bot, seat) => ({ bot, placement: match.placements[seat] }));
  seats.sort((one, other) => one.placement - other.placement);
  const first = seats.filter(({ placement }) => placement === 1);
  const others = seats.slice(first.length);
  const named = (some) => some.flatMap(({ bot }, at) => [
    at ? (at === some.length - 1 ? " and " : ", ") : "", emblem(bot), element("bdi", {}, names.get(bot) ?? "…"),
  ]);
  const winners = others.length ? [element("strong", {}, ...named(first))] : named(first);
  const verb = first.length > 1 ? " tied" : " beat ";
  return element(
    "li",
    { "data-match": match.id },
    element("a", { class: "who", href: `/matches/${match.id}` }, ...winners, verb, first.length > 1 && others.length ? " ahead of " : "", ...named(others)),
    " ",
    element("small", { class: "quiet" }, where + leg),
    ...(match.status === "void" ? [" ", statePill("void")] : []),
    " ",
  );
}
