// What the five games share: the frame of a game's module, cards and numbers in words, hands that may be hidden.
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

import { cardWords } from "../words.js";

export const HIDDEN_CARD = "??";

const CARD_RANKS = "23456789TJQKA";
const CARD_SUITS = "cdhs";
const SUITS_TOLD = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
const SMALL_NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

// -- words --

/** "clubs"; whatever is no suit is given as it is. */
export function suitInWords(suit) {
  return SUITS_TOLD[suit] ?? String(suit);
}

/** "ten of spades", "joker", "hidden card": without an article. */
export function cardInWords(card) {
  return card[0] === "X" ? "joker" : cardWords(card);
}

/** "the ten of spades", "a joker", "a hidden card". */
export function theCard(card) {
  const words = cardInWords(card);
  return `${words === "joker" || words === "hidden card" ? "a" : "the"} ${words}`;
}

/** "the ten of spades and the ace of hearts", "three hidden cards", "no cards". */
export function cardsInWords(cards) {
  const open = cards.filter((card) => card !== HIDDEN_CARD).map(theCard);
  const closed = cards.length - open.length;
  if (closed) {
    open.push(closed === 1 ? "a hidden card" : `${numberInWords(closed)} hidden cards`);
  }
  return open.length ? listInWords(open) : "no cards";
}

/** "a, b and c". */
export function listInWords(texts) {
  return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

/** "three", "12". */
function numberInWords(number) {
  return SMALL_NUMBERS[number] ?? String(number);
}

/** The names of these seats in a list. */
export function seatsInWords(seats, name) {
  return listInWords(seats.map(name));
}

/** The sentence for the end of a match; `of(seat)` tells what the seat reached. */
export function endInWords(event, name, of) {
  const first = event.placements.flatMap((place, seat) => (place === 1 ? [seat] : []));
  const verb = first.length === 1 ? "comes first" : "share the first place";
  return `The match is over: ${seatsInWords(first, name)} ${verb} with ${of(first[0])}.`;
}

// -- cards and seats --

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
 * names title, phase, seats and centre; `mask(event, viewer, options)` gives one event as it may be read, or null;
 * `tells[event]` gives a sentence; `opens(event)` names the round that begins; `scoresOf(facts)` the running scores.
 */
export function makeTable({ game, scoreName, fresh, happens, draw, mask, tells, opens, scoresOf, ...more }) {
  return {
    game,
    scoreName,
    begin: (header) => drawnFrom(draw, { ...frameOf(header), ...fresh(header) }),
    apply(position, event) {
      const facts = { ...copyOfFacts(position.facts), moved: [], said: [] };
      handlerOf(happens, event)?.(facts, event);
      return drawnFrom(draw, facts);
    },
    shown: (events, viewer, options) =>
      events.map((event) => mask(event, viewer, options)).filter((event) => event !== null),
    tell: (event, name) => handlerOf(tells, event)?.(event, name) ?? null,
    opens: (event) => opens(event) ?? null,
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
