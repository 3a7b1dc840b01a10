// Load the table modules of games. Pages of a service fetch the module they need; a page from disk contains all.

import { plainTable } from "./plain.js";
import { PRESENTATIONS } from "./presentations.js";

const TABLES = new Map();

/** Add table modules. */
export function addTables(...tables) {
  for (const table of tables) TABLES.set(table.game, table);
}

/** Fetch the table module of a game, if it exists and is not loaded. Without it, a match is shown in sentences. */
export async function fetchTable(game) {
  if (TABLES.has(game) || !presentationOf(game)?.table) return;
  try {
    const module = await import(new URL(presentationOf(game).table, import.meta.url).href);
    addTables(...Object.values(module).filter((table) => table?.game === game));
  } catch (error) {
    console.warn("The table of this game could not be fetched.", error);
  }
}

/** Return the table module of a game, with defaults from its presentation. */
export function tableFor(game) {
  return { ...plainTable(game, presentationOf(game)), ...TABLES.get(game) };
}

function presentationOf(game) {
  return Object.hasOwn(PRESENTATIONS, game) ? PRESENTATIONS[game] : null;
}
