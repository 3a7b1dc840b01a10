// Reading a log somebody hands over. It may be anything: what is wrong is said with its row, nothing is trusted.

import { joined } from "./digests.js";

const MOST_BYTES = 64 * 2 ** 20; // unpacked
const MOST_MEMBERS = 64; // of a packed file
const MOST_SEATS = 32;
const LOG_FORMAT = 1;
const STRICT = new TextDecoder("utf-8", { fatal: true });

/** Why something is no log; `message` is for the reader. */
export class NoLog extends Error {}

/** The bytes of a file, unpacked when it is gzip. Throws `NoLog`. */
export async function unpacked(blob) {
  if (blob.size > MOST_BYTES) throw tooLong();
  const head = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  if (head[0] !== 0x1f || head[1] !== 0x8b) return new Uint8Array(await blob.arrayBuffer());
  if (typeof DecompressionStream === "undefined") {
    throw new NoLog("This browser cannot unpack .gz files. Unpack it first: gunzip FILE.");
  }
  const packed = new Uint8Array(await blob.arrayBuffer());
  const parts = [];
  let start = 0;
  for (const end of [...memberStarts(packed), packed.length]) {
    const part = await member(packed.subarray(start, end));
    if (!part) continue; // what looked like the start of a member was not: it goes on to the next
    parts.push(part);
    start = end;
    if (parts.reduce((sum, one) => sum + one.length, 0) > MOST_BYTES) throw tooLong();
  }
  if (start < packed.length) throw new NoLog("This .gz file is damaged: it cannot be unpacked.");
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Where further members may begin: logs are packed in several, and the browser unpacks one at a time. */
function memberStarts(packed) {
  const starts = [];
  for (let at = packed.indexOf(0x1f, 1); at > 0 && starts.length < MOST_MEMBERS; at = packed.indexOf(0x1f, at + 1)) {
    if (packed[at + 1] === 0x8b && packed[at + 2] === 8 && packed[at + 3] === 0) starts.push(at);
  }
  return starts;
}

/** One member unpacked; null when these bytes are none. Throws `NoLog` when it becomes too long. */
async function member(packed) {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const parts = [];
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > MOST_BYTES) throw tooLong();
      parts.push(part.value);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof NoLog) throw error;
    return null;
  }
  return joined(...parts);
}

/** {lines, rows} of a log's bytes: each line as stored and as an object, fit to be shown. Throws `NoLog`. */
export function readLog(bytes) {
  const lines = linesOf(bytes);
  if (!lines.length) throw new NoLog("This file is empty.");
  const rows = lines.map(rowOf);
  checkHeader(rows[0]);
  rows.forEach((row, number) => number && checkRow(row, number, rows[0].seats));
  return { lines, rows };
}

function tooLong() {
  return new NoLog(`This file is longer than ${MOST_BYTES / 2 ** 20} MiB, which no match is.`);
}

function linesOf(bytes) {
  const lines = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    lines.push(bytes.subarray(start, bytes[end - 1] === 13 ? end - 1 : end));
    start = end + 1;
  }
  if (start < bytes.length) lines.push(bytes.subarray(start));
  return lines;
}

function rowOf(line, number) {
  let row;
  try {
    row = JSON.parse(STRICT.decode(line));
  } catch {
    throw at(number, number ? "it is not JSON" : "it is not JSON; a match log is a JSON object a line");
  }
  if (!isObject(row)) throw at(number, "it is not a JSON object");
  return row;
}

function checkHeader(row) {
  if (row.type !== "header") throw at(0, "a match log begins with its header");
  if (row.log_format !== LOG_FORMAT) throw at(0, `log format ${short(row.log_format)}; this viewer knows ${LOG_FORMAT}`);
  if (typeof row.game !== "string" || !isObject(row.options)) throw at(0, "it names no game and options");
  if (!Number.isInteger(row.seats) || row.seats < 1 || row.seats > MOST_SEATS) throw at(0, "its number of seats is none");
  const named = Array.isArray(row.players) && row.players.length === row.seats && row.players.every(isNamed);
  if (!named) throw at(0, "it must name a player for each seat");
}

function checkRow(row, number, seats) {
  if (typeof row.type !== "string") throw at(number, "it has no type");
  const events = row.events ?? [];
  if (!Array.isArray(events) || !events.every((event) => isObject(event) && typeof event.event === "string")) {
    throw at(number, "its events are none");
  }
  if (row.type === "decision" && !(isSeat(row.seat, seats) && Number.isInteger(row.n))) {
    throw at(number, "its decision has no seat or number");
  }
  if (row.type === "result") {
    const told = ["placements", "returns", "scores", "faults"];
    if (!told.every((name) => isTally(row[name], seats))) throw at(number, "its result is not complete");
  }
}

function at(number, reason) {
  return new NoLog(`This is no match log: line ${number + 1} (row ${number}) is wrong: ${reason}.`);
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNamed(player) {
  return isObject(player) && typeof player.name === "string";
}

function isSeat(seat, seats) {
  return Number.isInteger(seat) && seat >= 0 && seat < seats;
}

function isTally(values, seats) {
  return Array.isArray(values) && values.length === seats && values.every(Number.isFinite);
}

function short(value) {
  return String(JSON.stringify(value)).slice(0, 40);
}
