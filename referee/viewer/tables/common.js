// Share the frame, cards, seats and piles of table modules. The modules have the rules, and the viewer draws.
//
// A position describes what the page draws. In addition to the common members it has
//   facts              the state that is needed to apply the next event; it is not drawn
//   seats[].known      cards of a face-down hand that everyone has seen (Saint Poker)
//   piles[].closed     true for a pile with cards that nobody may see (a low bidder's in Prince Albert)
//   seats[].out        also true for a folded seat, until the round ends (Prince Albert)
//   centre[].cards     for a pile, too, all known cards from the bottom
// A card is in one place only: the cards of a trick or a sequence are in the centre with the seat that played them, so
// `played` is null in all five games. `said` and `moved` concern the last event only.

import { PICTURE_SUITS } from "../words.js";

export const HIDDEN_CARD = "??";

const CARD_RANKS = "23456789TJQKA";
const CARD_SUITS = "cdhs";

// -- cards and seats --

/** Return a suit in words, like "clubs" for "c", and any other text unchanged. */
export function suitInWords(suit) {
  return PICTURE_SUITS[suit] ?? String(suit);
}

/** Return the cards sorted by rank and suit, with jokers and hidden cards at the end. */
export function cardsInOrder(cards) {
  return [...cards].sort((left, right) => cardOrder(left) - cardOrder(right));
}

function cardOrder(card) {
  if (card === HIDDEN_CARD) {
    return 99;
  }
  const rank = CARD_RANKS.indexOf(card[0]);
  return rank < 0 ? 60 + Number(card[1]) : 4 * rank + CARD_SUITS.indexOf(card[1]);
}

/** Remove the card from a list, or a hidden card if the card is not visible in the list. */
export function takeCard(cards, card) {
  const seen = cards.indexOf(card);
  const place = seen < 0 ? cards.indexOf(HIDDEN_CARD) : seen;
  if (place >= 0) {
    cards.splice(place, 1);
  }
}

/** Return as many hidden cards. */
export function hideCards(cards) {
  return cards.map(() => HIDDEN_CARD);
}

/** Return all seats in order, beginning with `first`, or in the opposite order if `step` is -1. */
export function seatsFrom(seats, first, step = 1) {
  return Array.from({ length: seats }, (_, i) => (((first + step * i) % seats) + seats) % seats);
}

/** Return a list with a value per seat. */
export function perSeat(seats, value) {
  return Array.from({ length: seats }, (_, seat) => value(seat));
}

/** Return a pile for a position. `cards` are ordered from the bottom. */
export function pileOf(name, cards, more = {}) {
  return { kind: "pile", name, count: cards.length, top: cards.at(-1) ?? null, cards, ...more };
}

// -- the frame of a game's module --

const SEAT_DEFAULTS = { hand: [], up: [], played: null, piles: [], chips: null, score: null, marks: [], out: false };

/**
 * Return the table module of a game. `fresh(header)` returns the first facts, `handlers[event]` changes a copy of them,
 * `draw(facts)` returns title, phase, seats and centre, and `scoresOf(facts)` returns the scores so far. Games that define
 * their own masking add `visibleEvents(events, viewer, options)`.
 */
export function makeTable({ fresh, handlers, draw, scoresOf, ...more }) {
  return {
    begin: (header) => positionFrom(draw, { ...frameOf(header), ...fresh(header) }),
    apply(position, event) {
      const facts = { ...copyOfFacts(position.facts), moved: [], said: [] };
      handlerOf(handlers, event)?.(facts, event);
      return positionFrom(draw, facts);
    },
    scores: (position) => [...scoresOf(position.facts)],
    ...more,
  };
}

/** The handlers of the events that every match has. */
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

/** Mark these seats as asked: the first of them, or all of them concurrently with `together`. */
export function askSeats(facts, phase, seats, together = false) {
  facts.phase = phase;
  facts.queue = [...seats];
  facts.together = together;
}

/** Show a remark about the current event at a seat, or in the middle of the table if `seat` is null. */
export function sayAt(facts, seat, text) {
  facts.said.push({ seat, text });
}

/** Mark cards as moved by the current event. */
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

function positionFrom(draw, facts) {
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

/** Copy lists, lists in lists, and objects. Objects in lists are shared, because they are never changed. */
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
