// The games that have a table of their own.

import { plainTable } from "./plain.js";
import { poolNap } from "./tables/pool_nap.js";
import { princeAlbert } from "./tables/prince_albert.js";
import { prisoners } from "./tables/prisoners.js";
import { rummyRoyal } from "./tables/rummy_royal.js";
import { saintPoker } from "./tables/saint_poker.js";

const TABLES = new Map([poolNap, princeAlbert, prisoners, rummyRoyal, saintPoker].map((table) => [table.game, table]));

/** The table module of a game; one that shows events alone where there is none. */
export function tableFor(game) {
  return TABLES.get(game) ?? plainTable(game);
}
