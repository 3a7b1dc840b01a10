// Show a question to a bot: its observation, new events, legal actions and time.

import { actionWords } from "./action_words.js";
import { make, text } from "./dom.js";
import { jsonTable } from "./json_view.js";
import { countNoun } from "./words.js";

const MOST_LEGAL = 60; // maximum number of legal actions shown
const MOST_EVENTS = 80;

/** Return what the bot saw: the elements of the question of a decision. */
export function questionView(question, row, replay) {
  const legal = Array.isArray(question.legal_actions) ? question.legal_actions : [];
  const events = Array.isArray(question.new_events) ? question.new_events : [];
  return [
    make("h3", {}, "Observation"), regionOf("Observation", jsonTable(question.observation)),
    make("h3", {}, `New events (${events.length})`),
    events.length ? make("ul", { class: "new-events" }, events.slice(-MOST_EVENTS).map((event) => eventItem(event, replay))) : make("p", { class: "quiet" }, "none"),
    make("h3", {}, countNoun(legal.length, "legal action")),
    make("ol", { class: "legal", start: 0 }, legal.slice(0, MOST_LEGAL).map((action) => legalItem(action, row.action, question.default_action))),
    legal.length > MOST_LEGAL ? make("p", { class: "quiet" }, `and ${legal.length - MOST_LEGAL} more`) : null,
    make("h3", {}, "Time"), regionOf("Time", jsonTable(question.time)),
  ].filter(Boolean);
}

function eventItem(event, replay) {
  const words = replay.describe(event);
  return words ? make("li", {}, text(words)) : null;
}

function legalItem(action, played, otherwise) {
  const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);
  const marks = [same(action, played) ? "played" : null, same(action, otherwise) ? "default" : null].filter(Boolean);
  return make("li", { class: marks.includes("played") ? "chosen" : null }, actionWords(action),
    marks.map((mark) => [" ", make("span", { class: "tag" }, mark)]).flat());
}

function regionOf(label, inside) {
  return make("div", { class: "frame", role: "region", tabindex: 0, "aria-label": label }, inside);
}
