// Return labels of states and of rating, from a table that the server writes into the page.
import { element } from "./dom.js";

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
