// Read an untrusted log file. Errors say which row is wrong.

import { concatBytes } from "./digests.js";

const MOST_BYTES = 64 * 2 ** 20; // maximum size of a file, compressed and decompressed
const MOST_MEMBERS = 64; // maximum number of members of a gzip file
const MOST_SEATS = 32;
const LOG_FORMAT = 2;
const STRICT = new TextDecoder("utf-8", { fatal: true });

/** Signal that a file is not a valid log. `message` is shown to the reader. */
export class BadLog extends Error {}

/** Return the bytes of a file, decompressed if it is gzip. Throw `BadLog`. */
export async function unpack(blob) {
  if (blob.size > MOST_BYTES) throw tooLongError();
  const head = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  if (head[0] !== 0x1f || head[1] !== 0x8b) return new Uint8Array(await blob.arrayBuffer());
  if (typeof DecompressionStream === "undefined") {
    throw new BadLog("This browser cannot decompress .gz files. Decompress it first: gunzip FILE.");
  }
  const packed = new Uint8Array(await blob.arrayBuffer());
  const parts = [];
  let start = 0;
  for (const end of [...memberStarts(packed), packed.length]) {
    const part = await unpackMember(packed.subarray(start, end));
    if (!part) continue; // if no member begins here, its data continues to the next candidate
    parts.push(part);
    start = end;
    if (parts.reduce((sum, bytes) => sum + bytes.length, 0) > MOST_BYTES) throw tooLongError();
  }
  if (start < packed.length) throw new BadLog("This .gz file is damaged and cannot be decompressed.");
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Return offsets at which further gzip members may begin, because browsers decompress only one member at a time. */
function memberStarts(packed) {
  const starts = [];
  for (let at = packed.indexOf(0x1f, 1); at > 0 && starts.length < MOST_MEMBERS; at = packed.indexOf(0x1f, at + 1)) {
    if (packed[at + 1] === 0x8b && packed[at + 2] === 8 && packed[at + 3] === 0) starts.push(at);
  }
  return starts;
}

/** Return one decompressed member, or null if the bytes are not a member. Throw `BadLog` if it is too long. */
async function unpackMember(packed) {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const parts = [];
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > MOST_BYTES) throw tooLongError();
      parts.push(part.value);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    if (error instanceof BadLog) throw error;
    return null;
  }
  return concatBytes(...parts);
}

/**
 * Return {lines, rows, signature} of a log, with each line as stored bytes and as a checked object. `signature` is the
 * line after the last row, which is no row, or null if the log is not signed. Throw `BadLog`.
 */
export function readLog(bytes) {
  const lines = linesOf(bytes);
  if (!lines.length) throw new BadLog("This file is empty.");
  const rows = lines.map(rowOf);
  const signature = isSignature(rows.at(-1)) ? rows.pop() : null;
  if (signature) lines.pop();
  if (!rows.length) throw new BadLog("This file has a signature, but no log.");
  checkHeader(rows[0]);
  rows.forEach((row, number) => number && checkRow(row, number, rows[0].seats));
  return { lines, rows, signature };
}

function isSignature(row) {
  return row.type === "signature" && !Object.hasOwn(row, "row");
}

function tooLongError() {
  return new BadLog(`This file is larger than ${MOST_BYTES / 2 ** 20} MiB, more than any match log.`);
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
    throw wrongRow(number, number ? "it is not JSON" : "it is not JSON; a match log has one JSON object per line");
  }
  if (!isObject(row)) throw wrongRow(number, "it is not a JSON object");
  return row;
}

function checkHeader(row) {
  if (row.type !== "header") throw wrongRow(0, "a match log begins with its header");
  if (row.log_format !== LOG_FORMAT) throw wrongRow(0, `its log format is ${short(row.log_format)}; this viewer supports ${LOG_FORMAT}`);
  if (typeof row.game !== "string" || !isObject(row.options)) throw wrongRow(0, "it must name a game and options");
  if (!Number.isInteger(row.seats) || row.seats < 1 || row.seats > MOST_SEATS) throw wrongRow(0, "its number of seats is invalid");
  const named = Array.isArray(row.players) && row.players.length === row.seats && row.players.every(isNamed);
  if (!named) throw wrongRow(0, "it must name a player for each seat");
}

function checkRow(row, number, seats) {
  if (typeof row.type !== "string") throw wrongRow(number, "it has no type");
  const events = row.events ?? [];
  if (!Array.isArray(events) || !events.every((event) => isObject(event) && typeof event.event === "string")) {
    throw wrongRow(number, "its events are invalid");
  }
  if (row.type === "decision" && !(isSeat(row.seat, seats) && Number.isInteger(row.n))) {
    throw wrongRow(number, "its decision has no seat or number");
  }
  if (row.type === "result") {
    const members = ["placements", "returns", "scores", "faults"];
    if (!members.every((name) => isTally(row[name], seats))) throw wrongRow(number, "its result is not complete");
  }
}

function wrongRow(number, reason) {
  return new BadLog(`This is not a match log: line ${number + 1} (row ${number}) is wrong: ${reason}.`);
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
