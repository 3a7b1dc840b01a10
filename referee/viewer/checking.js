// Verify a finished log in the browser: the links between rows, the commitment and the deals, but not the rules.

import { hexOf, sha256 } from "./digests.js";
import { checkDeals } from "./fairness.js";

const ROWS_A_BREATH = 200; // rows checked before other tasks of the page may run

/**
 * Check the raw lines of a log, and that `signature`, if it is not null, belongs to it. Its key is not checked. Return {ok: true, rows, revealed, deals, nonces}, or {ok: false, row, reason} for an invalid log.
 */
export async function checkLog(lines, rows, signature = null) {
  let before = null;
  for (const [number, line] of lines.entries()) {
    if (rows[number].row !== number) return failed(number, `it says it is row ${rows[number].row}`);
    if ((rows[number].prev ?? null) !== before) {
      return failed(number, number ? `its link is not the hash of row ${number - 1}: one of the two was altered` : "the first row links to nothing");
    }
    before = hexOf(sha256(line));
    if (number % ROWS_A_BREATH === ROWS_A_BREATH - 1) await new Promise((resolve) => setTimeout(resolve));
  }
  if (signature && (signature.log !== before || signature.match !== rows[0].match)) return failed(rows.length, "its signature is that of another log");
  const revealed = rows[rows.length - 1].type === "reveal";
  const played = rows.length - (revealed ? 1 : 0);
  if (rows[played - 1]?.type !== "result") return failed(played, "the log ends before the match is over: expected the result row here");
  const found = revealed ? checkDeals(rows[0], rows) : { deals: 0, nonces: 0 };
  if (found.reason) return failed(found.row, found.reason);
  return { ok: true, rows: rows.length, revealed, deals: found.deals, nonces: found.nonces };
}

function failed(row, reason) {
  return { ok: false, row, reason };
}
