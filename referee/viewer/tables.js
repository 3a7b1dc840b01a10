// The games that have a table of their own. Pages of a service fetch the one they need; a page from disk holds all.

import { plainTable } from "./plain.js";

const TABLES = new Map();
const TABLE_FILES = new Map([
  ["pool-nap", "pool_nap"], ["prince-albert", "prince_albert"], ["prisoners", "prisoners"],
  ["rummy-royal", "rummy_royal"], ["saint-poker", "saint_poker"],
]);

/** Makes tables known. */
export function addTables(...tables) {
  for (const table of tables) TABLES.set(table.game, table);
}

/** Fetches the table of a game where there is one and it is not known; without it the match is told in words. */
export async function fetchTable(game) {
  if (TABLES.has(game) || !TABLE_FILES.has(game)) return;
  try {
    const module = await import(new URL(`./tables/${TABLE_FILES.get(game)}.js`, import.meta.url).href);
    addTables(...Object.values(module).filter((one) => one?.game === game));
  } catch (error) {
    console.warn("The table of this game could not be fetched.", error);
  }
}

/** The table module of a game; one that shows events alone where there is none. */
export function tableFor(game) {
  return TABLES.get(game) ?? plainTable(game);
}
