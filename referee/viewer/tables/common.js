// What the games share: the frame of a game's module, cards, seats and piles. What events say is told by sentences.js.
// The rules of no game stand here, and nothing is drawn.
//
// A position is what the page draws. Over and above the agreed members it has
//   facts              what the game keeps to read the next event; not to be drawn
//   seats[].known      cards of a closed hand that everybody has seen (Saint Poker)
//   piles[].closed     true for a pile whose cards nobody may look at (a low bidder's in Prince Albert)
//   seats[].out        also true for who has folded, until the round ends (Prince Albert)
//   centre[].cards     on a pile too: all its cards, bottom first, as far as the events tell them
// A card lies in one place only: the cards of a trick or a sequence lie in the centre with the seat that played
// them, so `played` is null in all five games. `said` and `moved` belong to the last event alone.

import { PICTURE_SUITS } from "../words.js";

export const HIDDEN_CARD = "??";

const CARD_RANKS = "23456789TJQKA";
const CARD_SUITS = "cdhs";

// -- cards and seats --

/** "clubs"; whatever is no suit is given as it is. */
export function suitInWords(suit) {
  return PICTURE_SUITS[suit] ?? String(suit);
}

/** The cards by rank, then by suit; jokers and hidden cards last. A new list. */
export function cardsInOrder(cards) {
  return [...cards].sort((one, other) => cardOrder(one) - cardOrder(other));
}

function cardOrder(card) {
  if (card === HIDDEN_CARD) {
    return 99;
  }
  const rank = CARD_RANKS.indexOf(card[0]);
  return rank < 0 ? 60 + Number(card[1]) : 4 * rank + CARD_SUITS.indexOf(card[1]);
}

/** Takes the card out of this list, or one hidden card where the card is not seen in it. */
export function takeCard(cards, card) {
  const seen = cards.indexOf(card);
  const place = seen < 0 ? cards.indexOf(HIDDEN_CARD) : seen;
  if (place >= 0) {
    cards.splice(place, 1);
  }
}

/** As many hidden cards. */
export function hideCards(cards) {
  return cards.map(() => HIDDEN_CARD);
}

/** All seats round the table, beginning with this one; `step` -1 goes the other way. */
export function seatsFrom(seats, first, step = 1) {
  return Array.from({ length: seats }, (_, i) => (((first + step * i) % seats) + seats) % seats);
}

/** One value a seat. */
export function perSeat(seats, value) {
  return Array.from({ length: seats }, (_, seat) => value(seat));
}

/** A pile of the position; `cards` bottom first. */
export function pileOf(name, cards, more = {}) {
  return { kind: "pile", name, count: cards.length, top: cards.at(-1) ?? null, cards, ...more };
}

// -- the frame of a game's module --

const SEAT_DEFAULTS = { hand: [], up: [], played: null, piles: [], chips: null, score: null, marks: [], out: false };

/**
 * The module of a game. `fresh(header)` gives the first facts, `happens[event]` changes a copy of them, `draw(facts)`
 * names title, phase, seats and centre; `scoresOf(facts)` the running scores; `shown(events, viewer, options)` the
 * events as they may be read, where the rules have a function of their own for it.
 */
export function makeTable({ fresh, happens, draw, scoresOf, ...more }) {
  return {
    begin: (header) => drawnFrom(draw, { ...frameOf(header), ...fresh(header) }),
    apply(position, event) {
      const facts = { ...copyOfFacts(position.facts), moved: [], said: [] };
      handlerOf(happens, event)?.(facts, event);
      return drawnFrom(draw, facts);
    },
    scores: (position) => [...scoresOf(position.facts)],
    ...more,
  };
}

/** What happens at the start and at the end of every match. */
export const EVERY_MATCH = {
  match_start(facts, event) {
    facts.options = event.options;
  },
  match_end(facts, event) {
    facts.phase = "over";
    facts.queue = [];
    facts.placements = event.placements;
  },
};

/** Opens a question: to the first of these seats, or with `together` to all of them at once. */
export function askSeats(facts, phase, seats, together = false) {
  facts.phase = phase;
  facts.queue = [...seats];
  facts.together = together;
}

/** The seat says this with the present event; null is the table itself. */
export function sayAt(facts, seat, text) {
  facts.said.push({ seat, text });
}

/** These cards were moved by the present event. */
export function moveCards(facts, cards) {
  facts.moved.push(...cards.filter((card) => card !== HIDDEN_CARD));
}

function handlerOf(handlers, event) {
  return Object.hasOwn(handlers, event.event) ? handlers[event.event] : null;
}

function frameOf(header) {
  return {
    n: header.seats,
    options: header.options ?? {},
    phase: "",
    queue: [],
    together: false,
    placements: null,
    moved: [],
    said: [],
  };
}

function drawnFrom(draw, facts) {
  const drawn = draw(facts);
  const asked = new Set(facts.together ? facts.queue : facts.queue.slice(0, 1));
  return {
    ...drawn,
    seats: drawn.seats.map((own, seat) => ({ ...SEAT_DEFAULTS, ...own, toAct: asked.has(seat) })),
    moved: facts.moved,
    said: facts.said,
    over: facts.placements !== null,
    placements: facts.placements,
    facts,
  };
}

/** Lists, lists in lists and the objects beside them; an object in a list is never changed, and so shared. */
function copyOfFacts(facts) {
  const copied = { ...facts };
  for (const [name, value] of Object.entries(facts)) {
    if (Array.isArray(value)) {
      copied[name] = value.map((item) => (Array.isArray(item) ? [...item] : item));
    } else if (value !== null && typeof value === "object") {
      copied[name] = { ...value };
    }
  }
  return copied;
}
