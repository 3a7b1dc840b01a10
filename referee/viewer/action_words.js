// Describe an action of any game, or another value of a log, on one line.

import { text } from "./dom.js";
import { cardSign, isCard } from "./words.js";

/** Return an action as one line, like "bid, tricks 3". */
export function actionWords(action) {
  if (!action || typeof action !== "object") return text(action);
  const { type, ...members } = action;
  const words = Object.entries(members).map(([key, value]) => `${key.replaceAll("_", " ")} ${lineOf(value)}`);
  return text([typeof type === "string" ? type.replaceAll("_", " ") : null, ...words].filter(Boolean).join(", "));
}

/** Return a value as text on one line, with cards as signs. */
export function lineOf(value) {
  if (isCard(value)) return cardSign(value);
  if (Array.isArray(value)) return value.length ? value.map(lineOf).join(" ") : "none";
  if (value && typeof value === "object") return JSON.stringify(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === null ? "–" : String(value);
}
