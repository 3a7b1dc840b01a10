// Derive the positions of Rummy Royal from its events: the board with its chips, the extra hand, the sequences.

import { EVERY_MATCH, askSeats, hideCards, makeTable, moveCards, perSeat, pileOf, sayAt } from "./common.js";
import { seatsFrom, takeCard } from "./common.js";
import { cardWords, countNoun } from "../words.js";

const RR_PAY_CARDS = ["Th", "Jh", "Qh", "Kh", "Ah"];
const RR_SPACES = [...RR_PAY_CARDS, "QK", "seq", "kitty", "pot"];
const RR_PHASES = {
  "": "dealing",
  dealer: "the dealer's choice",
  auction: "auction of the extra hand",
  lead: "play",
  paid: "paying up",
  final: "turning up the pay cards",
  over: "over",
};
const RR_DEAD = {
  undecided: "Extra hand",
  aside: "Extra hand, aside",
  swapped: "Hand given up",
  auction: "Extra hand, for sale",
  sold: "Hand given up",
  unsold: "Extra hand, unsold",
};
const RR_COLOURS = { any: "any suit", black: "black ♣ ♠", red: "red ♦ ♥" };
const RR_LABELS = { QK: "Queen and king", kitty: "Kitty", pot: "Pot" };

function rrFresh(header) {
  const stack = header.options?.stack ?? 0;
  return {
    ...rrCleared(header.seats),
    stacks: perSeat(header.seats, () => stack),
    board: Object.fromEntries(RR_SPACES.map((space) => [space, 0])),
    deal: 0,
    dealer: null,
    prizes: null,
  };
}

/** Return the facts that a new deal resets. */
function rrCleared(seats) {
  return {
    hands: perSeat(seats, () => []),
    dead: [],
    fate: "undecided",
    taker: null,
    amount: 0,
    bidder: null,
    passed: [],
    colour: "any",
    played: [],
    run: [],
    without: perSeat(seats, () => null),
    winner: null,
  };
}

/** Ask for the next bid from all seats but the dealer, the highest bidder and those that passed. */
function rrAuction(facts, first) {
  const left = seatsFrom(facts.n, first % facts.n).filter(
    (seat) => seat !== facts.dealer && seat !== facts.bidder && !facts.passed.includes(seat),
  );
  askSeats(facts, "auction", left);
}

/** Ask a seat to lead. It keeps the lead until it has no card of the colour. */
function rrLead(facts, seat) {
  askSeats(facts, "lead", [seat % facts.n]);
}

function rrTakeExtra(facts, event) {
  facts.taker = event.seat;
  facts.hands[event.seat] = [...event.hand];
  facts.dead = event.discarded;
}

/** Return the chips won in the final deal, by seat. */
function rrWon(facts) {
  const own = (seat) => (facts.prizes ?? []).filter((prize) => prize.seat === seat);
  return perSeat(facts.n, (seat) => own(seat).reduce((sum, { chips }) => sum + chips, 0));
}

/** Spread the chips that were not won over the pay cards, and the remainder one by one from the ten. */
function rrSpread(board) {
  const chips = Object.values(board).reduce((sum, own) => sum + own, 0);
  const odd = chips % RR_PAY_CARDS.length;
  const each = (chips - odd) / RR_PAY_CARDS.length;
  return Object.fromEntries(
    RR_SPACES.map((space, place) => [space, place < RR_PAY_CARDS.length ? each + (place < odd ? 1 : 0) : 0]),
  );
}

const RR_HAPPENS = {
  ...EVERY_MATCH,
  draw(facts, event) {
    sayAt(facts, event.result, event.what === "first_dealer" ? "deals first" : "deals the final deal");
    if (event.what === "final_dealer") {
      Object.assign(facts, rrCleared(facts.n), { board: rrSpread(facts.board), prizes: [] });
      askSeats(facts, "final", []);
    }
    facts.dealer = event.result;
  },
  ante(facts, event) {
    Object.assign(facts, rrCleared(facts.n), { deal: event.deal, stacks: event.stacks, board: event.board });
    facts.dealer = event.deal === 1 ? facts.dealer : (facts.dealer + 1) % facts.n;
    askSeats(facts, "", []);
  },
  deal(facts, event) {
    facts.dealer = event.dealer;
    facts.hands = event.hands.map((hand) => [...hand]);
    facts.dead = event.extra;
    askSeats(facts, "dealer", [event.dealer]);
  },
  keep(facts, event) {
    facts.fate = "aside";
    sayAt(facts, event.seat, "keeps the hand");
    rrLead(facts, event.seat + 1);
  },
  sell(facts, event) {
    facts.fate = "auction";
    sayAt(facts, event.seat, "sells the extra hand");
    rrAuction(facts, event.seat + 1);
  },
  swap(facts, event) {
    facts.fate = "swapped";
    rrTakeExtra(facts, event);
    sayAt(facts, event.seat, "swaps");
    rrLead(facts, event.seat + 1);
  },
  bid(facts, event) {
    facts.amount = event.amount;
    facts.bidder = event.seat;
    sayAt(facts, event.seat, countNoun(event.amount, "chip"));
    rrAuction(facts, event.seat + 1);
  },
  pass(facts, event) {
    facts.passed.push(event.seat);
    sayAt(facts, event.seat, "pass");
    rrAuction(facts, event.seat + 1);
  },
  sold(facts, event) {
    facts.fate = "sold";
    rrTakeExtra(facts, event);
    facts.stacks = event.stacks;
    facts.board = event.board;
    sayAt(facts, event.seat, "buys the extra hand");
    rrLead(facts, facts.dealer + 1);
  },
  unsold(facts) {
    facts.fate = "unsold";
    sayAt(facts, null, "nobody buys it");
    rrLead(facts, facts.dealer + 1);
  },
  play(facts, event) {
    const laid = { card: event.card, seat: event.seat };
    takeCard(facts.hands[event.seat], event.card);
    facts.played.push(laid);
    facts.run = event.lead ? [laid] : [...facts.run, laid];
    facts.without = perSeat(facts.n, () => null);
    moveCards(facts, [event.card]);
    askSeats(facts, "lead", []);
  },
  pay(facts, event) {
    facts.stacks[event.seat] += event.chips;
    facts.board[event.space] = 0;
    sayAt(facts, event.seat, `+${countNoun(event.chips, "chip")}`);
  },
  stop(facts, event) {
    facts.colour = event.colour;
    sayAt(facts, null, `stop: ${event.colour} is due`);
    rrLead(facts, event.seat);
  },
  no_colour(facts, event) {
    facts.without[event.seat] = event.colour;
    sayAt(facts, event.seat, `no ${event.colour}`);
    rrLead(facts, event.seat + 1);
  },
  deal_end(facts, event) {
    facts.stacks = event.stacks;
    facts.board = event.board;
    facts.winner = event.winner;
    sayAt(facts, event.winner, event.winner === null ? "nobody goes out" : "out");
    askSeats(facts, "paid", []);
  },
  final_deal(facts, event) {
    facts.stacks = event.stacks;
    facts.board = event.board;
    facts.prizes = event.won;
    rrWon(facts).forEach((chips, seat) => chips && sayAt(facts, seat, `+${countNoun(chips, "chip")}`));
    moveCards(facts, event.won.map(({ card }) => card));
  },
};

// -- the position --

function rrDraw(facts) {
  const { deal, options } = facts;
  const of = options.deals ? ` of ${options.deals}` : "";
  return {
    title: facts.prizes ? "Final deal" : deal ? `Deal ${deal}${of}` : "Before the first deal",
    phase: RR_PHASES[facts.phase],
    seats: perSeat(facts.n, (seat) => rrSeat(facts, seat)),
    centre: rrCentre(facts),
  };
}

function rrSeat(facts, seat) {
  return { hand: facts.hands[seat], chips: facts.stacks[seat], marks: rrMarks(facts, seat) };
}

function rrMarks(facts, seat) {
  const marks = seat === facts.dealer ? ["dealer"] : [];
  if (facts.phase === "auction") {
    if (seat === facts.bidder) {
      marks.push(`bid ${facts.amount}`);
    } else if (facts.passed.includes(seat)) {
      marks.push("passed");
    }
  }
  if (seat === facts.taker) {
    marks.push(facts.fate === "sold" ? `bought for ${facts.amount}` : "swapped");
  }
  if (facts.without[seat]) {
    marks.push(`no ${facts.without[seat]}`);
  }
  if (seat === facts.winner) {
    marks.push("out first");
  }
  const won = rrWon(facts)[seat];
  return won ? [...marks, `won ${won}`] : marks;
}

function rrCentre(facts) {
  const centre = [{ kind: "board", name: "Board", spaces: RR_SPACES.map((space) => rrSpace(facts, space)) }];
  if (facts.prizes) {
    const cards = facts.prizes.map(({ card, seat }) => ({ card, seat }));
    return [...centre, { kind: "cards", name: "Pay cards dealt", cards }];
  }
  centre.push({ kind: "cards", name: "Sequence", cards: facts.run });
  centre.push(pileOf("Played before", facts.played.slice(0, facts.played.length - facts.run.length).map(rrCard)));
  if (facts.dead.length) {
    centre.push(pileOf(RR_DEAD[facts.fate], facts.dead, { top: null }));
  }
  if (facts.fate === "auction") {
    const text = facts.amount ? countNoun(facts.amount, "chip") : "no bid yet";
    centre.push({ kind: "note", name: "Highest bid", text });
  }
  if (facts.phase === "lead") {
    centre.push({ kind: "note", name: "Colour due", text: RR_COLOURS[facts.colour] ?? facts.colour });
  }
  return centre;
}

function rrCard(laid) {
  return laid.card;
}

function rrSpace(facts, space) {
  const card = RR_PAY_CARDS.includes(space) ? space : null;
  return { id: space, label: rrLabel(space, facts.options.sequence), card, chips: facts.board[space] };
}

/** Return a short label, because nine of them are next to each other. */
function rrLabel(space, sequence = "678") {
  if (space === "seq") {
    return `${[...sequence].map((rank) => (rank === "T" ? "10" : rank)).join("-")} of a suit`;
  }
  return RR_LABELS[space] ?? cardWords(space).replace(/^./, (first) => first.toUpperCase());
}

// -- visibility --

/** Return the event as `viewer` may see it. `looked` says whether the dealer has seen the dealt hand. */
function rrMask(event, viewer, looked) {
  if (event.event === "deal") {
    const own = looked || viewer !== event.dealer ? viewer : null;
    const hands = event.hands.map((hand, seat) => (seat === own ? hand : hideCards(hand)));
    return { ...event, deck: hideCards(event.deck), hands, extra: hideCards(event.extra) };
  }
  if (event.event !== "swap" && event.event !== "sold") {
    return event;
  }
  if (event.seat !== viewer) {
    return { ...event, hand: hideCards(event.hand), discarded: hideCards(event.discarded) };
  }
  return looked || event.event === "sold" ? event : { ...event, discarded: hideCards(event.discarded) };
}

/** Return the events as `viewer` may see them. A dealer who chooses blind sees the hand only after keeping it. */
function rrVisibleEvents(events, viewer, options) {
  const kept = new Set(events.filter(({ event }) => event === "keep" || event === "sell").map(({ deal }) => deal));
  return events.map((event) => rrMask(event, viewer, options.dealer_looks || kept.has(event.deal)));
}

export const rummyRoyal = makeTable({
  game: "rummy-royal",
  fresh: rrFresh,
  handlers: RR_HAPPENS,
  draw: rrDraw,
  scoresOf: (facts) => facts.stacks,
  visibleEvents: rrVisibleEvents,
});
