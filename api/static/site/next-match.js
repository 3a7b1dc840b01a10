// Find a match in progress to watch after the one that is over.
import { readPublic } from "./public.js";

/**
 * Return {href, words} of a match in progress: of the same tournament if there is one, else of the same game, else of any.
 * Without any, return the tournament, or null.
 */
export async function nextMatch({ id, tournament, header }) {
  const filters = [tournament && `tournament=${tournament}&`, `game=${header.game}&`, ""].filter((filter) => filter !== null);
  for (const filter of filters) {
    const { items } = await readPublic(`/matches?${filter}status=running&limit=5`);
    const next = items.find((match) => match.id !== id);
    if (next) return { href: `/matches/${next.id}`, words: `Watch next: ${describe(next)}` };
  }
  return tournament ? { href: `/tournaments/${tournament}`, words: "Back to the tournament" } : null;
}

/** Return the players of a match or, while they are hidden, its table. */
export function describe({ seats, table, tournament_round: round }) {
  const names = seats.map((seat) => seat.name).filter(Boolean);
  if (names.length) return names.join(" – ");
  return round ? `round ${round}, table ${table}` : "another table";
}
