// Return labels of states and of rating, from a table that the server writes into the page.
import { element } from "./dom.js";
import { gameName } from "./figures.js";

const { states, unrated } = JSON.parse(document.getElementById("labels").textContent);

/** Return the label of a state of a match, tournament, bot or webhook. */
export function stateLabel(state) {
  return states[state] ?? state;
}

/** Return a label that says whether a match of the API is rated or why not. */
export function ratedLabel(match) {
  return match.rated ? "rated" : unrated[match.unrated_reason];
}

/** Return an element with the label, and a mark in the colour of the state. */
export function statePill(state) {
  return element("span", { class: `state state-${state}` }, stateLabel(state));
}

/** Return the state of a bot of the API; for a verified bot, the games for which it is certified. */
export function botPill({ status, certified }) {
  if (status !== "verified") return statePill(status);
  if (!certified.length) return element("span", { class: "state state-unverified" }, "not certified");
  return element("span", { class: "state state-verified" }, `certified: ${certified.map(gameName).join(", ")}`);
}
