// Derive the positions of Prisoners from its events: the prisoners, the bids and the winners. No rules are checked.

import { EVERY_MATCH, askSeats, makeTable, moveCards, perSeat, pileOf, sayAt, seatsFrom } from "./common.js";
import { suitInWords, takeCard } from "./common.js";
import { countNoun } from "../words.js";

const PR_PHASES = { "": "dealing", name_suit: "naming the suit", bid: "auction", settled: "settled", over: "over" };
const PR_POINTS = { J: 50, Q: 100, K: 150, X: 200 };

function prFresh(header) {
  return { ...prCleared(header.seats), points: perSeat(header.seats, () => 0), deal: 0, dealer: null, leader: null };
}

/** Return the facts that a new deal resets. */
function prCleared(seats) {
  return {
    hands: perSeat(seats, () => []),
    leftOver: [],
    pile: [],
    refuse: [],
    lost: [],
    taken: perSeat(seats, () => []),
    claims: [],
    prisoner: null,
    suit: null,
    high: null,
    calls: perSeat(seats, () => null),
  };
}

/** Return all seats in the direction of play. */
function prLap(facts, seat) {
  return seatsFrom(facts.n, seat, facts.options.direction === "anticlockwise" ? -1 : 1);
}

/** Remove bid cards from the hand. */
function prSpend(facts, seat, cards) {
  cards.forEach((card) => takeCard(facts.hands[seat], card));
  facts.refuse.push(...cards);
  moveCards(facts, cards);
}

/** Map four jokers to the two pictures, because the number of a joker does not matter. */
function prPicture(prisoner) {
  return prisoner[0] === "X" ? `X${2 - (Number(prisoner[1]) % 2)}` : prisoner;
}

const PR_HAPPENS = {
  ...EVERY_MATCH,
  draw(facts, event) {
    facts.dealer = event.result;
    sayAt(facts, event.result, "deals first");
  },
  deal(facts, event) {
    Object.assign(facts, prCleared(facts.n), { deal: event.deal, dealer: event.dealer, leader: event.dealer });
    facts.hands = event.hands.map((hand) => [...hand]);
    facts.pile = event.pile.map(prPicture);
    facts.leftOver = event.left_over;
    askSeats(facts, "", []);
  },
  turn(facts, event) {
    facts.pile.shift();
    Object.assign(facts, { prisoner: prPicture(event.prisoner), suit: event.suit, high: null });
    facts.calls = perSeat(facts.n, () => null);
    moveCards(facts, [facts.prisoner]);
    if (event.suit === null) {
      askSeats(facts, "name_suit", [facts.dealer]);
    } else {
      askSeats(facts, "bid", prLap(facts, facts.leader));
    }
  },
  name_suit(facts, event) {
    facts.suit = event.suit;
    sayAt(facts, event.seat, suitInWords(event.suit));
    askSeats(facts, "bid", prLap(facts, facts.leader));
  },
  aces(facts, event) {
    prSpend(facts, event.seat, event.cards);
    sayAt(facts, event.seat, "must lay aces");
  },
  claim(facts, event) {
    facts.claims.push(...(event.jokers === 2 ? [event.seat, event.seat] : [event.seat]));
    sayAt(facts, event.seat, `is owed ${countNoun(event.jokers, "joker")}`);
  },
  bid(facts, event) {
    const { seat, cards, total } = event;
    facts.queue.shift();
    facts.high = { seat, cards, total };
    facts.calls[seat] = total;
    prSpend(facts, seat, cards);
    sayAt(facts, seat, `bids ${total}`);
    if (facts.options.bidding !== "single") {
      facts.queue.push(seat);
    }
  },
  pass(facts, event) {
    facts.queue.shift();
    facts.calls[event.seat] = 0;
    sayAt(facts, event.seat, "pass");
  },
  prisoner(facts, event) {
    if (event.how === "claim") {
      facts.claims.shift();
    }
    const prisoner = prPicture(event.prisoner);
    if (event.to === null) {
      facts.lost.push(prisoner);
    } else {
      facts.taken[event.to].push(prisoner);
      facts.points[event.to] += event.points;
      facts.leader = event.to;
      sayAt(facts, event.to, `+${countNoun(event.points, "point")}`);
    }
    facts.prisoner = null;
    moveCards(facts, [prisoner]);
    askSeats(facts, "settled", []);
  },
  deal_end(facts, event) {
    facts.points = event.scores;
    facts.suit = facts.high = null;
  },
  match_end(facts, event) {
    EVERY_MATCH.match_end(facts, event);
    facts.points = event.scores;
  },
};

// -- the position --

function prDraw(facts) {
  return {
    title: facts.deal ? `Deal ${facts.deal} of ${facts.options.deals}` : "Before the first deal",
    phase: PR_PHASES[facts.phase],
    seats: perSeat(facts.n, (seat) => prSeat(facts, seat)),
    centre: prCentre(facts),
  };
}

function prSeat(facts, seat) {
  const taken = facts.taken[seat];
  return {
    hand: facts.hands[seat],
    piles: taken.length ? [{ name: "Prisoners", count: taken.length, top: taken.at(-1), cards: taken }] : [],
    score: facts.points[seat],
    marks: prMarks(facts, seat),
  };
}

function prMarks(facts, seat) {
  const marks = seat === facts.dealer ? ["dealer"] : [];
  if (seat === facts.leader) {
    marks.push("bids first");
  }
  const call = facts.calls[seat];
  if (call !== null && facts.phase !== "over") {
    marks.push(call ? `bid ${call}` : "passed");
  }
  const owed = facts.claims.filter((claimant) => claimant === seat).length;
  if (owed) {
    marks.push(`owed ${countNoun(owed, "joker")}`);
  }
  return marks;
}

function prCentre(facts) {
  const { prisoner, suit, high } = facts;
  const centre = [];
  if (prisoner) {
    const name = `Prisoner, ${PR_POINTS[prisoner[0]]} points`;
    centre.push({ kind: "cards", name, cards: [{ card: prisoner, seat: null }] });
  }
  if (high) {
    const cards = high.cards.map((card) => ({ card, seat: high.seat }));
    centre.push({ kind: "cards", name: `${prisoner ? "Bid to beat" : "Winning bid"}: ${high.total}`, cards });
  }
  if (prisoner && prisoner[0] === "X") {
    centre.push({ kind: "note", name: "Suit of the joker", text: suit ? suitInWords(suit) : "to be named" });
  }
  if (facts.deal) {
    // Spent cards are in the refuse, but those of the highest bid are shown separately.
    const spent = [...facts.refuse];
    (high?.cards ?? []).forEach((card) => takeCard(spent, card));
    centre.push(pileOf("Prisoners to come", [...facts.pile].reverse(), { top: null }));
    centre.push(pileOf("Refuse", spent));
  }
  if (facts.lost.length) {
    centre.push(pileOf("Prisoners nobody took", facts.lost));
  }
  if (facts.leftOver.length) {
    centre.push(pileOf("Left over", facts.leftOver, { top: null }));
  }
  return centre;
}

export const prisoners = makeTable({
  game: "prisoners",
  fresh: prFresh,
  handlers: PR_HAPPENS,
  draw: prDraw,
  scoresOf: (facts) => facts.points,
});
