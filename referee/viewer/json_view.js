// Show JSON as readable nested tables of bounded size.

import { lineOf } from "./action_words.js";
import { make, text } from "./dom.js";
import { cardSign, isCard } from "./words.js";

const MOST_ENTRIES = 300;
const DEEPEST = 8;

/** Return a value as a table of its members, with lists of plain values on one line and cards as signs. */
export function jsonTable(value, depth = 0) {
  if (Array.isArray(value)) {
    if (value.every(isPlain)) return listOf(value);
    return membersOf(value.map((item, index) => [String(index), item]), depth);
  }
  if (value && typeof value === "object") return membersOf(Object.entries(value), depth);
  return plainOf(value);
}

function membersOf(entries, depth) {
  if (!entries.length) return make("span", { class: "quiet" }, "none");
  if (depth >= DEEPEST) return make("code", {}, text(Object.fromEntries(entries)));
  const rows = entries.slice(0, MOST_ENTRIES).map(([key, value]) =>
    make("tr", {}, make("th", { scope: "row" }, text(key)), make("td", {}, jsonTable(value, depth + 1))));
  if (entries.length > MOST_ENTRIES) rows.push(make("tr", {}, make("td", { colspan: 2 }, `and ${entries.length - MOST_ENTRIES} more`)));
  return make("table", { class: "json-table" }, make("tbody", {}, rows));
}

function listOf(values) {
  if (!values.length) return make("span", { class: "quiet" }, "none");
  const shown = values.slice(0, MOST_ENTRIES);
  if (shown.every((item) => isCard(item) || item === "??")) {
    return make("span", { class: "signs" }, shown.map((card, place) => [place ? " " : null, cardMark(card)]).flat());
  }
  return make("span", {}, text(shown.map(lineOf).join(", ")));
}

function plainOf(value) {
  if (isCard(value)) return cardMark(value);
  if (value === null) return make("span", { class: "quiet" }, "–");
  if (typeof value === "boolean") return make("span", {}, value ? "yes" : "no");
  return make("span", {}, text(value));
}

function cardMark(card) {
  const red = isCard(card) && (card[1] === "h" || card[1] === "d");
  return make("span", { class: red ? "card-sign red" : "card-sign" }, cardSign(card));
}

function isPlain(value) {
  return value === null || typeof value !== "object";
}
