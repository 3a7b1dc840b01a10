// Verify that all cards follow from the committed seed and the bots' nonces by drawing them again.

import { hexOf, hmac256, concatBytes, sha256, bytesOfHex } from "./digests.js";

const UTF8 = new TextEncoder();
const WORDS_A_BLOCK = 8;

/** Return the commitment of a deal group, the SHA-256 in hex of the seed's bytes and the group's id. */
export function commitmentOf(seed, groupId) {
  return hexOf(sha256(concatBytes(seed, UTF8.encode(groupId))));
}

/** Return a function (asked, k) that returns the outcome of chance node `k` of its kind, counted from 0. */
export function committedChance(seed, groupId, nonces) {
  const key = hmac256(seed, UTF8.encode(`referee/v1|${groupId}|${nonces.join("|")}`));
  return (asked, k) => {
    const below = wordsOf(key, asked.kind, k);
    if (asked.kind === "deck") return shuffle(asked.cards, below);
    if (asked.ordered) return shuffle(asked.among, below);
    return asked.among[below(asked.among.length)];
  };
}

/** Check a revealed log. Return {deals, nonces}, their numbers, or {row, reason} for the first outcome that does not follow. */
export function checkDeals(header, rows) {
  const last = rows.length - 1;
  const { group } = header;
  const { seed: hex, nonces, nonce_hashes: hashes } = rows[last];
  const seed = bytesOfHex(hex);
  if (!seed || !Array.isArray(nonces) || !Array.isArray(hashes)) return { row: last, reason: "the reveal is malformed" };
  if (commitmentOf(seed, String(group?.id)) !== group?.commitment) {
    return { row: last, reason: "the seed does not match the commitment in the header" };
  }
  if (nonces.length !== hashes.length || nonces.length !== group.entries?.length) {
    return { row: last, reason: "a nonce and a hash are expected for each entry" };
  }
  const unfit = nonces.findIndex((nonce, place) => nonce && hexOf(sha256(UTF8.encode(nonce))) !== hashes[place]);
  if (unfit >= 0) return { row: last, reason: `nonce ${unfit} does not fit its hash` };
  const missing = nonces.findIndex((nonce, place) => !nonce && hashes[place]);
  if (missing >= 0) return { row: last, reason: `nonce ${missing} was promised and is missing` };
  return { ...checkOutcomes(rows, committedChance(seed, group.id, nonces)), nonces: nonces.filter(Boolean).length };
}

function checkOutcomes(rows, outcome) {
  const nodes = new Map();
  let deals = 0;
  for (const [number, row] of rows.entries()) {
    if (row.type !== "chance") continue;
    const k = nodes.get(row.chance?.kind) ?? 0;
    nodes.set(row.chance?.kind, k + 1);
    if (!isDrawable(row.chance) || JSON.stringify(outcome(row.chance, k)) !== JSON.stringify(row.outcome)) {
      return { row: number, reason: `${row.chance?.kind} ${k} does not follow from the revealed seed and nonces` };
    }
    deals += 1;
  }
  return { deals };
}

function isDrawable(asked) {
  const items = asked?.kind === "deck" ? asked.cards : asked?.among;
  return typeof asked?.kind === "string" && Array.isArray(items) && items.length > 0;
}

/** Return a shuffled copy (Fisher and Yates, from the last index down). */
function shuffle(items, below) {
  const order = [...items];
  for (let i = order.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** Return a function (m) that returns the next random number below `m` for one chance node. */
function wordsOf(key, kind, k) {
  const label = concatBytes(UTF8.encode(`${kind}|`), be32(k));
  let block = 0;
  let used = WORDS_A_BLOCK;
  let words = null;
  const next = () => {
    if (used === WORDS_A_BLOCK) {
      words = new DataView(hmac256(key, concatBytes(label, be32(block))).buffer);
      block += 1;
      used = 0;
    }
    used += 1;
    return words.getUint32(4 * (used - 1));
  };
  return (m) => {
    const limit = 2 ** 32 - (2 ** 32 % m);
    let word = next();
    while (word >= limit) word = next();
    return word % m;
  };
}

function be32(number) {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}
