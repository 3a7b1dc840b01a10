// Update the list of the newest results of a tournament.
import { element } from "./dom.js";
import { emblem } from "./emblem.js";
import { statePill } from "./labels.js";
import { readPublic } from "./live.js";

const FLUSH_MS = 800;

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

  const flush = async () => {
    timer = 0;
    for (const match of waiting.splice(0).slice(-most)) {
      const unknown = match.bots.some((bot) => !names.has(bot));
      if (unknown) learn((await readPublic(`/matches/${match.id}`).catch(() => null))?.seats ?? []);
      put(match);
    }
  };
  const learn = (seats) => seats.forEach((seat) => seat.bot && names.set(seat.bot, seat.name));
  const put = (match) => {
    list.querySelector(`[data-match="${match.id}"]`)?.remove();
    list.prepend(line(match, names));
    while (list.children.length > most) list.lastElementChild.remove();
    document.querySelector("[data-no-results]").hidden = true;
  };

  return {
    know: (more) => more.forEach((name, bot) => names.set(bot, name)),
    /** Add a match from the stream. */
    add(match) {
      waiting.push(match);
      timer ||= setTimeout(() => (flushed = flushed.then(flush)), FLUSH_MS);
    },
    /** Reload the list, for matches that ended while the stream was not connected. */
    async renew() {
      for (const match of (await ended(tournamentId)).slice(-most)) {
        learn(match.seats);
        put({ ...match, bots: match.seats.map((seat) => seat.bot), placements: match.seats.map((seat) => seat.placement) });
      }
    },
  };
}

/** Return finished matches of the tournament, newest last. */
async function ended(tournamentId) {
  const { items } = await readPublic(`/matches?tournament=${tournamentId}&status=finished&limit=100`);
  return items.sort((one, other) => (one.finished_at < other.finished_at ? -1 : 1));
}

function line(match, names) {
  const where = match.tournament_round ? `Round ${match.tournament_round}, table ${match.table}` : `Match ${match.table}`;
  const leg = match.leg > 1 ? `, leg ${match.leg}` : "";
  const who = element("span", { class: "who" });
  const seats = match.bots.map((bot, seat) => ({ bot, placement: match.placements[seat] }));
  seats.sort((one, other) => one.placement - other.placement);
  for (const { bot, placement } of seats) {
    who.append(
      element("span", { class: placement === 1 ? "placement first" : "placement" }, String(placement)),
      " ",
      emblem(bot), element("bdi", {}, names.get(bot) ?? "…"),
      " ",
    );
  }
  const voided = match.status === "void" ? [" ", statePill("void")] : [];
  return element(
    "li",
    { "data-match": match.id },
    element("a", { href: `/matches/${match.id}` }, where + leg),
    ...voided,
    " ",
    who,
  );
}
