// Every game as the viewer knows it: its presentation, and the module that draws it where there is one. Pages of a
// service fetch the module they need; a page from disk holds all.

import { plainTable } from "./plain.js";
import { PRESENTATIONS } from "./presentations.js";

const TABLES = new Map();

/** Adds modules that draw a game. */
export function addTables(...tables) {
  for (const table of tables) TABLES.set(table.game, table);
}

/** Fetches the module that draws a game, if there is one and it is not known; without it the match is told in words. */
export async function fetchTable(game) {
  if (TABLES.has(game) || !presentationOf(game)?.table) return;
  try {
    const module = await import(new URL(presentationOf(game).table, import.meta.url).href);
    addTables(...Object.values(module).filter((one) => one?.game === game));
  } catch (error) {
    console.warn("The table of this game could not be fetched.", error);
  }
}

/** What there is to know of a game: its table module on top of what a presentation alone can show. */
export function tableFor(game) {
  return { ...plainTable(game, presentationOf(game)), ...TABLES.get(game) };
}

function presentationOf(game) {
  return Object.hasOwn(PRESENTATIONS, game) ? PRESENTATIONS[game] : null;
}
