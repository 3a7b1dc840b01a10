// Whether the cards follow from the seed that was promised and the bots' own numbers: the referee's chance, again.

import { hexOf, hmac256, joined, sha256, unhexed } from "./digests.js";

const UTF8 = new TextEncoder();
const WORDS_A_BLOCK = 8;

/** The promise of a deal group: hex SHA-256 over the seed's bytes and the group's id. */
export function commitmentOf(seed, groupId) {
  return hexOf(sha256(joined(seed, UTF8.encode(groupId))));
}

/** A function (asked, k) that gives what the k-th node of its kind must have brought. */
export function committedChance(seed, groupId, nonces) {
  const key = hmac256(seed, UTF8.encode(`referee/v1|${groupId}|${nonces.join("|")}`));
  return (asked, k) => {
    const below = wordsOf(key, asked.kind, k);
    if (asked.kind === "deck") return shuffled(asked.cards, below);
    if (asked.ordered) return shuffled(asked.among, below);
    return asked.among[below(asked.among.length)];
  };
}

/** What is wrong with a revealed log, as {row, reason}, or {deals} when every outcome follows. */
export function checkDeals(header, rows) {
  const last = rows.length - 1;
  const { group } = header;
  const { seed: hex, nonces, nonce_hashes: hashes } = rows[last];
  const seed = unhexed(hex);
  if (!seed || !Array.isArray(nonces) || !Array.isArray(hashes)) return { row: last, reason: "the reveal is malformed" };
  if (commitmentOf(seed, String(group?.id)) !== group?.commitment) {
    return { row: last, reason: "the seed is not the one promised by the commitment in the header" };
  }
  if (nonces.length !== hashes.length || nonces.length !== group.entries?.length) {
    return { row: last, reason: "a nonce and a hash are expected for each entry" };
  }
  const unfit = nonces.findIndex((nonce, place) => nonce && hexOf(sha256(UTF8.encode(nonce))) !== hashes[place]);
  if (unfit >= 0) return { row: last, reason: `nonce ${unfit} does not fit its hash` };
  return checkOutcomes(rows, committedChance(seed, group.id, nonces));
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

/** Fisher and Yates from the last place down. */
function shuffled(items, below) {
  const order = [...items];
  for (let i = order.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** The random words of one node, as a function that gives a number below m. */
function wordsOf(key, kind, k) {
  const label = joined(UTF8.encode(`${kind}|`), be32(k));
  let block = 0;
  let used = WORDS_A_BLOCK;
  let words = null;
  const next = () => {
    if (used === WORDS_A_BLOCK) {
      words = new DataView(hmac256(key, joined(label, be32(block))).buffer);
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
