// JSON as nested tables a person can read. Bounded, whatever it holds.

import { make, text } from "./dom.js";
import { cardSign, isCard } from "./words.js";

const MOST_ENTRIES = 300;
const DEEPEST = 8;

/** A value as a table of its members, lists of plain values on one line, cards by their signs. */
export function nestedTable(value, depth = 0) {
  if (Array.isArray(value)) {
    if (value.every(isPlain)) return listOf(value);
    return membersOf(value.map((one, place) => [String(place), one]), depth);
  }
  if (value && typeof value === "object") return membersOf(Object.entries(value), depth);
  return plainOf(value);
}

/** An action on one line: "bid, tricks 3". */
export function actionWords(action) {
  if (!action || typeof action !== "object") return text(action);
  const { type, ...members } = action;
  const told = Object.entries(members).map(([key, value]) => `${key.replaceAll("_", " ")} ${lineOf(value)}`);
  return text([typeof type === "string" ? type.replaceAll("_", " ") : null, ...told].filter(Boolean).join(", "));
}

function membersOf(entries, depth) {
  if (!entries.length) return make("span", { class: "quiet" }, "none");
  if (depth >= DEEPEST) return make("code", {}, text(Object.fromEntries(entries)));
  const rows = entries.slice(0, MOST_ENTRIES).map(([key, value]) =>
    make("tr", {}, make("th", { scope: "row" }, text(key)), make("td", {}, nestedTable(value, depth + 1))));
  if (entries.length > MOST_ENTRIES) rows.push(make("tr", {}, make("td", { colspan: 2 }, `and ${entries.length - MOST_ENTRIES} more`)));
  return make("table", { class: "nested" }, make("tbody", {}, rows));
}

function listOf(values) {
  if (!values.length) return make("span", { class: "quiet" }, "none");
  const shown = values.slice(0, MOST_ENTRIES);
  if (shown.every((one) => isCard(one) || one === "??")) {
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

function lineOf(value) {
  if (isCard(value)) return cardSign(value);
  if (Array.isArray(value)) return value.length ? value.map(lineOf).join(" ") : "none";
  if (value && typeof value === "object") return JSON.stringify(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === null ? "–" : String(value);
}
