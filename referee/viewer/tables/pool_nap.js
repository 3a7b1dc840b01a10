// Derive the positions of Pool Nap from its events: cards, bids, tricks and chips. No rules are checked.

import { EVERY_MATCH, askSeats, makeTable, moveCards, perSeat, pileOf, sayAt, seatsFrom } from "./common.js";
import { suitInWords, takeCard } from "./common.js";
import { countNoun } from "../words.js";

const PN_HAND = 5;
const PN_PHASES = { "": "setting up", deal: "dealing", bid: "bidding", play: "play", paid: "payout", over: "over" };

function pnFresh(header) {
  const start = header.options?.start_chips ?? 0;
  return {
    ...pnCleared(header.seats),
    chips: perSeat(header.seats, () => start),
    pot: 0,
    outRound: perSeat(header.seats, () => null),
    round: 0,
    limit: null,
    dealer: null,
  };
}

/** Return the facts that a new round resets. */
function pnCleared(seats) {
  return {
    order: [],
    hands: perSeat(seats, () => []),
    aside: [],
    bids: perSeat(seats, () => null),
    bid: 0,
    bidder: null,
    trump: null,
    trick: [],
    lastTrick: [],
    tricksWon: perSeat(seats, () => 0),
    outcome: null,
  };
}

/** Return the seats that play the round, clockwise from `seat`. */
function pnFrom(facts, seat) {
  return seatsFrom(facts.n, seat).filter((other) => facts.order.includes(other));
}

const PN_HAPPENS = {
  match_start(facts, event) {
    EVERY_MATCH.match_start(facts, event);
    facts.limit = event.round_limit;
    facts.chips = event.chips;
  },
  opening_pot(facts, event) {
    facts.chips = event.chips;
    facts.pot = event.pot;
  },
  draw(facts, event) {
    facts.dealer = event.result;
    sayAt(facts, event.result, "deals first");
  },
  round_start(facts, event) {
    Object.assign(facts, pnCleared(facts.n), {
      round: event.round,
      dealer: event.dealer,
      order: event.order,
      chips: event.chips,
      pot: event.pot,
    });
    askSeats(facts, "deal", []);
  },
  deal(facts, event) {
    facts.hands = event.hands.map((hand) => [...hand]);
    facts.aside = event.deck.slice(PN_HAND * facts.order.length);
    askSeats(facts, "bid", facts.order);
  },
  bid(facts, event) {
    facts.queue.shift();
    facts.bids[event.seat] = event.tricks;
    if (event.tricks) {
      facts.bid = event.tricks;
      facts.bidder = event.seat;
    }
    sayAt(facts, event.seat, event.tricks ? countNoun(event.tricks, "trick") : "pass");
  },
  passed_out(facts) {
    askSeats(facts, "paid", []);
    sayAt(facts, null, "passed out");
  },
  contract(facts, event) {
    askSeats(facts, "play", pnFrom(facts, event.seat));
  },
  trump(facts, event) {
    facts.trump = event.suit;
    sayAt(facts, null, `trumps are ${suitInWords(event.suit)}`);
  },
  play(facts, event) {
    facts.queue.shift();
    takeCard(facts.hands[event.seat], event.card);
    facts.trick.push({ card: event.card, seat: event.seat });
    facts.lastTrick = [];
    moveCards(facts, [event.card]);
  },
  trick(facts, event) {
    facts.tricksWon = event.tricks_won;
    facts.lastTrick = facts.trick;
    facts.trick = [];
    sayAt(facts, event.winner, "takes the trick");
    askSeats(facts, "play", event.trick < PN_HAND ? pnFrom(facts, event.winner) : []);
  },
  payout(facts, event) {
    facts.chips = event.chips;
    facts.pot = event.pot;
    facts.outcome = event.made ? "made it" : "failed";
    sayAt(facts, event.seat, facts.outcome);
    askSeats(facts, "paid", []);
  },
  out(facts, event) {
    facts.outRound[event.seat] = event.round;
    sayAt(facts, event.seat, "out");
  },
  match_end(facts, event) {
    EVERY_MATCH.match_end(facts, event);
    facts.chips = event.chips;
    facts.pot = event.pot;
    facts.outRound = event.out_round;
  },
};

// -- the position --

function pnDraw(facts) {
  const { round, limit, options, phase } = facts;
  const of = limit && options.ending !== "last_player" ? ` of ${limit}` : "";
  return {
    title: round ? `Round ${round}${of}` : "Before the first round",
    phase: phase === "paid" && facts.bidder === null ? "passed out" : PN_PHASES[phase],
    seats: perSeat(facts.n, (seat) => pnSeat(facts, seat)),
    centre: pnCentre(facts),
  };
}

function pnSeat(facts, seat) {
  const won = facts.tricksWon[seat];
  return {
    hand: facts.hands[seat],
    piles: won ? [{ name: "Tricks", count: won, top: null }] : [],
    chips: facts.chips[seat],
    marks: pnMarks(facts, seat),
    out: facts.outRound[seat] !== null,
  };
}

function pnMarks(facts, seat) {
  const marks = seat === facts.dealer ? ["dealer"] : [];
  const bid = facts.bids[seat];
  if (facts.phase === "bid" && bid !== null) {
    marks.push(bid ? `bid ${bid}` : "passed");
  } else if (seat === facts.bidder) {
    marks.push(`plays for ${facts.bid}`);
    if (facts.outcome) {
      marks.push(facts.outcome);
    }
  }
  if (facts.outRound[seat] !== null) {
    marks.push(`out in round ${facts.outRound[seat]}`);
  }
  return marks;
}

function pnCentre(facts) {
  const centre = [{ kind: "pot", name: "Pot", chips: facts.pot }];
  if (facts.lastTrick.length) {
    centre.unshift({ kind: "cards", name: "Last trick", cards: facts.lastTrick });
  } else {
    centre.unshift({ kind: "cards", name: "Trick", cards: facts.trick });
  }
  if (facts.bid) {
    const text = countNoun(facts.bid, "trick") + (facts.bid === PN_HAND ? ", a nap" : "");
    centre.push({ kind: "note", name: facts.phase === "bid" ? "Highest bid" : "Contract", text });
  }
  if (facts.trump) {
    centre.push({ kind: "note", name: "Trump", text: suitInWords(facts.trump) });
  }
  if (facts.aside.length) {
    centre.push(pileOf("Not dealt", facts.aside, { top: null }));
  }
  return centre;
}

export const poolNap = makeTable({
  game: "pool-nap",
  fresh: pnFresh,
  handlers: PN_HAPPENS,
  draw: pnDraw,
  scoresOf: (facts) => facts.chips,
});
