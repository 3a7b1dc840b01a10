// Apply the events of Prince Albert: cards, payments and the next seats to act. prince_albert.js draws and masks.

import { EVERY_MATCH, askSeats, cardsInOrder, moveCards, perSeat, sayAt, seatsFrom, takeCard } from "./common.js";
import { countNoun } from "../words.js";

const PA_HAND = 5;
const PA_MOST_THROWS = 5;
const PA_MOTIONS = { forced_bid: ["free", "max"], showing: ["voluntary", "all"], ties: ["push", "lose"] };

/** Return the facts before the first event. */
export function paFresh(header) {
  const { cash, stack } = header.options ?? {};
  return {
    ...paCleared(header.seats),
    points: perSeat(header.seats, () => 0),
    chips: perSeat(header.seats, () => (cash ? stack : 0)),
    round: 0,
    opener: null,
    motion: null,
    motions: [],
    votes: [],
    throws: 0,
  };
}

/** Return the facts that a new round resets. */
function paCleared(seats) {
  const each = (value) => perSeat(seats, () => value);
  return {
    ...{ deck: 52, dealt: 0, down: perSeat(seats, () => []), up: perSeat(seats, () => []) },
    ...{ piles: perSeat(seats, () => []), turnedUp: each(false), hidden: each(false) },
    ...{ folded: each(false), paid: each(0), pot: 0, put: each(0), acted: each(false), level: 0, raises: 0 },
    ...{ bids: each(null), bid: null, bidOut: each(false), low: [], stake: 0, draws: 0 },
    ...{ drawn: each(0), drawOut: each(false), allIn: each(false), winners: [], delta: null },
  };
}

/** Return the seats that have not folded, in ascending order. */
function paIn(facts) {
  return perSeat(facts.n, (seat) => seat).filter((seat) => !facts.folded[seat]);
}

/** Return all seats in order from the first low bidder, or from the opener if there is no low bidder yet. */
function paClockwise(facts) {
  return seatsFrom(facts.n, facts.low[0] ?? facts.opener);
}

// -- votes --

function paOpenVotes(facts) {
  facts.motion = facts.motions.shift() ?? null;
  facts.votes = [];
  facts.throws = 0;
  askSeats(facts, facts.motion ? "vote" : "", facts.motion ? facts.down.keys() : [], true);
}

/** Handle a tied vote, after which the opener throws against the next seat that voted differently. */
function paOpenThrow(facts, votes) {
  const [option, alternative] = PA_MOTIONS[facts.motion] ?? [];
  const tied = votes.filter((vote) => vote === option).length === votes.filter((vote) => vote === alternative).length;
  const [first, ...others] = seatsFrom(facts.n, facts.opener);
  const rival = others.find((seat) => votes[seat] !== votes[first]);
  askSeats(facts, "throw", tied ? [first, rival].sort((left, right) => left - right) : [], true);
}

// -- betting --

function paCovers(facts, seat) {
  return !facts.options.stack || facts.chips[seat] >= 1;
}

/** Return whether a seat must pay to stay in, or has not acted although another seat could respond. */
function paMustBeAsked(facts, seat) {
  if (facts.folded[seat] || !paCovers(facts, seat)) {
    return false;
  }
  const answerable = paIn(facts).some((other) => other !== seat && paCovers(facts, other));
  return facts.put[seat] < facts.level || (!facts.acted[seat] && answerable);
}

function paClearLevel(facts) {
  facts.put = perSeat(facts.n, () => 0);
  facts.acted = perSeat(facts.n, () => false);
  facts.level = facts.raises = 0;
}

function paOpenBetting(facts, phase) {
  facts.phase = phase;
  if (!facts.options.cash) {
    paCloseBetting(facts);
    return;
  }
  paClearLevel(facts);
  paAskToBet(facts, paClockwise(facts)[0]);
}

function paAskToBet(facts, first) {
  const asked = seatsFrom(facts.n, first).find((seat) => paMustBeAsked(facts, seat));
  if (asked === undefined) {
    paCloseBetting(facts);
  } else {
    askSeats(facts, facts.phase, [asked]);
  }
}

function paCloseBetting(facts) {
  paClearLevel(facts);
  if (facts.phase === "bet3" || paIn(facts).length === 1) {
    paOpenShowing(facts);
  } else if (facts.phase === "bet2") {
    paOpenDrawing(facts);
  } else {
    facts.bidOut = [...facts.folded];
    askSeats(facts, "bidding", paClockwise(facts).filter((seat) => !facts.folded[seat]));
  }
}

function paPay(facts, seat, chips) {
  facts.chips[seat] -= chips;
  facts.paid[seat] += chips;
  facts.pot += chips;
}

// -- drawing, all in, showing --

function paOpenDrawing(facts) {
  facts.drawOut = facts.folded.map((folded, seat) => folded || (facts.bid === 0 && facts.low.includes(seat)));
  askSeats(facts, "drawing", paClockwise(facts).filter((seat) => !facts.drawOut[seat]));
  paAfterDrawing(facts);
}

function paAfterDrawing(facts) {
  if (facts.queue.length) {
    return;
  }
  const seats = paIn(facts).filter((seat) => !facts.low.includes(seat) && facts.points[seat] > 0);
  if (seats.length) {
    askSeats(facts, "all_in", seats, true);
  } else {
    paOpenBetting(facts, "bet3");
  }
}

/** Ask all seats that need not show, concurrently. */
function paOpenShowing(facts) {
  const left = paIn(facts);
  const bound = left.filter((seat) => facts.low.includes(seat) || facts.allIn[seat]);
  const all = left.length > 1 && (!bound.length || facts.options.showing === "all");
  const free = all || left.length === 1 ? [] : left.filter((seat) => !bound.includes(seat));
  askSeats(facts, "show", free, true);
}

/** Move the discard to the seat's pile, and put the drawn card in its place. */
function paExchange(facts, event) {
  const { seat, discard, drawn, from } = event;
  const part = event.was === "up" ? facts.up : facts.down;
  takeCard(part[seat], discard);
  facts.piles[seat].push(discard);
  if (from === "deck") {
    facts.deck -= 1;
  } else {
    facts.piles[from].pop();
  }
  part[seat] = cardsInOrder([...part[seat], drawn]);
  facts.drawn[seat] += 1;
  moveCards(facts, [discard, drawn]);
}

/** The handlers by event, which change the facts. */
export const PA_HAPPENS = {
  ...EVERY_MATCH,
  opener(facts, event) {
    facts.opener = event.seat;
    facts.motions = [...(facts.options.vote ?? [])];
    sayAt(facts, event.seat, "opens");
    paOpenVotes(facts);
  },
  vote(facts, event) {
    facts.votes = event.votes;
    event.votes.forEach((vote, seat) => sayAt(facts, seat, vote));
    paOpenThrow(facts, event.votes);
  },
  throw(facts, event) {
    event.seats.forEach((seat, place) => sayAt(facts, seat, event.signs[place]));
    facts.throws += 1;
    if (event.signs[0] !== event.signs[1] || facts.throws === PA_MOST_THROWS) {
      facts.queue = [];
    }
  },
  motion(facts, event) {
    facts.options = { ...facts.options, [event.motion]: event.value };
    sayAt(facts, null, event.value);
    paOpenVotes(facts);
  },
  round(facts, event) {
    Object.assign(facts, paCleared(facts.n), { round: event.round, opener: event.opener, motion: null });
    facts.points = event.scores;
    facts.chips = event.chips;
    askSeats(facts, "", []);
  },
  deal(facts, event) {
    facts.down[event.seat] = event.down;
    facts.up[event.seat] = event.up;
    facts.deck -= PA_HAND;
    facts.dealt += 1;
    moveCards(facts, [...event.down, ...event.up]);
    if (facts.dealt === facts.n) {
      paOpenBetting(facts, "bet1");
    }
  },
  ante(facts, event) {
    paPay(facts, event.seat, event.chips);
    sayAt(facts, event.seat, `ante ${event.chips}`);
    paOpenBetting(facts, "bet1"); // the next seat depends on the chips left after the antes
  },
  wager(facts, event) {
    const { seat, type, chips } = event;
    paPay(facts, seat, chips);
    facts.put[seat] += chips;
    facts.acted[seat] = true;
    facts.level = Math.max(facts.level, facts.put[seat]);
    facts.raises += type === "raise" ? 1 : 0;
    facts.folded[seat] = type === "fold";
    sayAt(facts, seat, chips ? `${type} ${chips}` : type);
    if (paIn(facts).length === 1) {
      paCloseBetting(facts);
    } else {
      paAskToBet(facts, (seat + 1) % facts.n);
    }
  },
  bid(facts, event) {
    facts.queue.shift();
    facts.bids[event.seat] = event.cards;
    sayAt(facts, event.seat, countNoun(event.cards, "card"));
    if (facts.bid === 0) {
      facts.low.push(event.seat);
      return;
    }
    facts.bid = event.cards;
    facts.low = [event.seat];
    facts.queue = seatsFrom(facts.n, event.seat).slice(1).filter((seat) => !facts.bidOut[seat]);
  },
  pass(facts, event) {
    facts.queue.shift();
    sayAt(facts, event.seat, event.phase === "bidding" ? "pass" : "no more cards");
    if (event.phase === "bidding") {
      facts.bidOut[event.seat] = true;
    } else {
      facts.drawOut[event.seat] = true;
      paAfterDrawing(facts);
    }
  },
  contract(facts, event) {
    facts.low = event.low_bidders;
    Object.assign(facts, { bid: event.bid, stake: event.stake, draws: event.draws });
    paOpenBetting(facts, "bet2");
  },
  exchange(facts, event) {
    facts.queue.shift();
    paExchange(facts, event);
    if (facts.drawn[event.seat] < facts.draws) {
      facts.queue.push(event.seat);
    }
    paAfterDrawing(facts);
  },
  all_in(facts, event) {
    event.seats.forEach((seat) => {
      facts.allIn[seat] = true;
      sayAt(facts, seat, "all in");
    });
    paOpenBetting(facts, "bet3");
  },
  show(facts, event) {
    facts.turnedUp[event.seat] = true;
    facts.down[event.seat] = event.cards.slice(0, event.cards.length - facts.up[event.seat].length);
    facts.queue = facts.queue.filter((seat) => seat !== event.seat);
    moveCards(facts, event.cards);
    sayAt(facts, event.seat, "shows");
  },
  hide(facts, event) {
    facts.hidden[event.seat] = true;
    facts.queue = facts.queue.filter((seat) => seat !== event.seat);
    sayAt(facts, event.seat, "does not show");
  },
  pot(facts, event) {
    event.seats.forEach((seat, place) => {
      facts.chips[seat] += event.shares[place];
      facts.pot -= event.shares[place];
      sayAt(facts, seat, `+${countNoun(event.shares[place], "chip")}`);
    });
    facts.queue = [];
  },
  round_end(facts, event) {
    Object.assign(facts, { points: event.scores, chips: event.chips, winners: event.winners, delta: event.delta });
    event.delta.forEach((points, seat) => {
      if (points) {
        sayAt(facts, seat, `${points > 0 ? "+" : ""}${countNoun(points, "point")}`);
      }
    });
    askSeats(facts, "scored", []);
  },
};
