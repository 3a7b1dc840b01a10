// Keep the presentations and table modules of games. Pages of a service contain the presentations that they need, and
// fetch the table module; a page from disk contains all.

import { plainTable } from "./plain.js";

const PRESENTATIONS = new Map();
const TABLES = new Map();

/** Add presentations, by the names of their games. */
export function addPresentations(byGame) {
  for (const [game, presentation] of Object.entries(byGame)) PRESENTATIONS.set(game, presentation);
}

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
  return PRESENTATIONS.get(game) ?? null;
}
