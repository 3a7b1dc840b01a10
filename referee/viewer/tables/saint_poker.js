// Derive the positions of Saint Poker from its events: the river, the selected cards and the pickups.

import { EVERY_MATCH, askSeats, cardsInOrder, makeTable, moveCards, perSeat, pileOf, sayAt } from "./common.js";
import { takeCard } from "./common.js";
import { cardWords, countNoun, theCard } from "../words.js";

const SP_RIVER = 5;
const SP_PHASES = {
  "": "dealing",
  river: "choosing a card for the river",
  select: "choosing two cards to reveal",
  score: "scoring",
  pickup: "picking up",
  over: "over",
};

function spFresh(header) {
  return {
    ...spCleared(header.seats),
    round: 0,
    points: perSeat(header.seats, () => 0),
    hands: perSeat(header.seats, () => []),
    known: perSeat(header.seats, () => []),
    stock: [],
    future: [],
    river: [],
    discards: [],
    lap: 0,
  };
}

/** Return the facts that a new round resets. */
function spCleared(seats) {
  return {
    revealed: perSeat(seats, () => []),
    names: perSeat(seats, () => null),
    winners: [],
    order: [],
  };
}

/** Move a card from the hand to the table. */
function spLay(facts, seat, card) {
  takeCard(facts.hands[seat], card);
  facts.known[seat] = facts.known[seat].filter((own) => own !== card);
}

const SP_HAPPENS = {
  ...EVERY_MATCH,
  deal(facts, event) {
    facts.hands = event.hands.map((hand) => [...hand]);
    facts.future = event.future_river;
    const dealt = event.hands.reduce((sum, hand) => sum + hand.length, 0) + event.future_river.length;
    facts.stock = event.deck.slice(dealt);
  },
  river_setup(facts, event) {
    Object.assign(facts, spCleared(facts.n), { round: event.round, lap: 0, future: event.future_river });
    facts.river = event.river.map((card) => ({ card, seat: null }));
    facts.stock = facts.stock.slice(facts.stock.length - event.stock_size);
    moveCards(facts, [...event.river, ...event.future_river]);
    askSeats(facts, "river", facts.hands.keys(), true);
  },
  river(facts, event) {
    event.cards.forEach((card, seat) => {
      spLay(facts, seat, card);
      facts.river.push({ card, seat });
      sayAt(facts, seat, cardWords(card));
    });
    moveCards(facts, event.cards);
    askSeats(facts, "select", facts.hands.keys(), true);
  },
  reveal(facts, event) {
    event.cards.forEach((pair, seat) => pair.forEach((card) => spLay(facts, seat, card)));
    facts.revealed = event.cards.map((pair) => [...pair]);
    moveCards(facts, event.cards.flat());
    askSeats(facts, "score", []);
  },
  score(facts, event) {
    facts.names = event.names;
    facts.winners = event.groups[0];
    facts.points = event.scores;
    facts.winners.forEach((seat) => sayAt(facts, seat, `${event.names[seat]}, ${countNoun(event.points, "point")}`));
  },
  pickup_order(facts, event) {
    facts.order = event.order;
    facts.lap = 1;
    askSeats(facts, "pickup", [...event.order, ...event.order]);
  },
  take(facts, event) {
    facts.queue.shift();
    facts.lap = facts.queue.length <= facts.n ? 2 : 1;
    if (event.source === "river") {
      facts.river = facts.river.filter(({ card }) => card !== event.card);
    } else {
      takeCard(facts.revealed[event.source], event.card);
    }
    facts.hands[event.seat] = cardsInOrder([...facts.hands[event.seat], event.card]);
    facts.known[event.seat] = cardsInOrder([...facts.known[event.seat], event.card]);
    moveCards(facts, [event.card]);
    sayAt(facts, event.seat, `takes ${theCard(event.card)}`);
  },
  discard(facts, event) {
    facts.discards.push(...event.cards);
    facts.river = [];
    facts.revealed = perSeat(facts.n, () => []);
    moveCards(facts, event.cards);
  },
};

// -- the position --

function spDraw(facts) {
  const { round, options, phase, lap } = facts;
  return {
    title: round ? `Round ${round} of ${options.rounds}` : "Before the first round",
    phase: phase === "pickup" ? `${SP_PHASES.pickup}, ${lap === 1 ? "first" : "second"} card` : SP_PHASES[phase],
    seats: perSeat(facts.n, (seat) => spSeat(facts, seat)),
    centre: spCentre(facts),
  };
}

function spSeat(facts, seat) {
  return {
    hand: facts.hands[seat],
    known: facts.known[seat],
    up: facts.revealed[seat],
    score: facts.points[seat],
    marks: spMarks(facts, seat),
  };
}

function spMarks(facts, seat) {
  const marks = facts.names[seat] ? [facts.names[seat]] : [];
  if (facts.winners.includes(seat)) {
    marks.unshift(facts.winners.length > 1 ? "shares the round" : "wins the round");
  }
  const place = facts.order.indexOf(seat);
  if (place >= 0 && facts.phase === "pickup") {
    marks.push(`${["1st", "2nd", "3rd", "4th", "5th"][place]} to pick`);
  }
  return marks;
}

function spCentre(facts) {
  const centre = [{ kind: "cards", name: "River", cards: facts.river }];
  if (facts.n < SP_RIVER && facts.round) {
    centre.push({ kind: "cards", name: "Next river", cards: facts.future.map((card) => ({ card, seat: null })) });
  }
  if (facts.round) {
    const worth = countNoun(facts.round, "point");
    centre.push(pileOf("Stock", [...facts.stock].reverse(), { top: null }));
    centre.push(pileOf("Discards", facts.discards));
    centre.push({ kind: "note", name: "At stake", text: worth });
  }
  return centre;
}

export const saintPoker = makeTable({
  game: "saint-poker",
  fresh: spFresh,
  handlers: SP_HAPPENS,
  draw: spDraw,
  scoresOf: (facts) => facts.points,
});
