// Prince Albert as a position: hands down and up, discards, bids, votes, cash. How the events lead from one
// question to the next stands in prince_albert_round.js.

import { cardsInWords, endInWords, hideCards, listInWords, makeTable, perSeat } from "./common.js";
import { seatsInWords, theCard, HIDDEN_CARD } from "./common.js";
import { PA_HAPPENS, paFresh } from "./prince_albert_round.js";
import { counted } from "../words.js";

const PA_PHASES = {
  "": "dealing",
  vote: "voting",
  throw: "rock, paper, scissors",
  bet1: "first betting",
  bidding: "bidding",
  bet2: "second betting",
  drawing: "drawing",
  all_in: "going all in",
  bet3: "third betting",
  show: "showing",
  scored: "scoring",
  over: "over",
};

// -- the position --

function paDraw(facts) {
  const { round, options } = facts;
  return {
    title: round ? `Round ${round}, to ${counted(options.target, "point")}` : "Before the first round",
    phase: PA_PHASES[facts.phase],
    seats: perSeat(facts.n, (seat) => paSeat(facts, seat)),
    centre: paCentre(facts),
  };
}

function paSeat(facts, seat) {
  const pile = facts.piles[seat];
  const closed = facts.low.includes(seat);
  const top = closed ? HIDDEN_CARD : pile.at(-1);
  return {
    hand: facts.down[seat],
    up: facts.up[seat],
    piles: pile.length ? [{ name: "Discards", count: pile.length, top, cards: pile, closed }] : [],
    chips: facts.options.cash ? facts.chips[seat] : null,
    score: facts.points[seat],
    marks: paMarks(facts, seat),
    out: facts.folded[seat],
  };
}

function paMarks(facts, seat) {
  const low = facts.low.includes(seat);
  const told = [
    [seat === facts.opener, "opens"],
    [facts.votes[seat], `votes ${facts.votes[seat]}`],
    [facts.folded[seat], "folded"],
    [facts.phase === "bidding" && facts.bids[seat] !== null && !low, `bid ${facts.bids[seat]}`],
    [low, `low bid ${facts.bid}`],
    [facts.phase === "bidding" && facts.bidOut[seat] && !facts.folded[seat], "passed"],
    [facts.phase === "drawing" && facts.draws && facts.drawn[seat], `drew ${facts.drawn[seat]} of ${facts.draws}`],
    [facts.allIn[seat], "all in"],
    [facts.put[seat], `put in ${facts.put[seat]}`],
    [facts.turnedUp[seat], "shows"],
    [facts.hidden[seat], "does not show"],
    [facts.winners.includes(seat), "best hand"],
  ];
  return told.flatMap(([holds, mark]) => (holds ? [mark] : []));
}

function paCentre(facts) {
  const centre = [];
  if (facts.round) {
    const count = facts.deck;
    centre.push({ kind: "pile", name: "Deck", count, top: null });
  }
  if (facts.options.cash) {
    centre.push({ kind: "pot", name: "Pot", chips: facts.pot });
  }
  if (facts.motion) {
    centre.push({ kind: "note", name: "Voted on", text: paMotion(facts.motion) });
  }
  if (facts.bid !== null) {
    const name = facts.stake ? "Low bid" : "Lowest bid";
    centre.push({ kind: "note", name, text: counted(facts.bid, "card") });
  }
  if (facts.stake) {
    centre.push({ kind: "note", name: "Stake", text: counted(facts.stake, "point") });
    centre.push({ kind: "note", name: "Draws", text: `up to ${facts.draws}` });
  }
  return centre;
}

function paMotion(motion) {
  return motion.replaceAll("_", " ");
}

// -- what may be seen --

function paMask(event, viewer) {
  if (event.event === "deck") {
    return null;
  }
  if (event.seat === viewer) {
    return event;
  }
  if (event.event === "deal") {
    return { ...event, down: hideCards(event.down) };
  }
  if (event.event !== "exchange" || event.was === "up") {
    return event;
  }
  const discard = event.pile === "down" ? HIDDEN_CARD : event.discard;
  const drawn = event.from === "deck" ? HIDDEN_CARD : event.drawn;
  return { ...event, discard, drawn };
}

// -- in words --

function paDeal(event, name) {
  const up = event.up.length ? ` and open ${cardsInWords(event.up)}` : "";
  return `${name(event.seat)} is dealt ${counted(event.down.length, "card")} face down${up}.`;
}

function paMotionCarried(event) {
  const by = { majority: "by majority", throw: "by the throw", draw: "by lot" }[event.by];
  return `${paCapital(paMotion(event.motion))} shall be ${event.value}, ${by}.`;
}

function paWager(event, name) {
  const verb = { check: "checks", call: "calls", bet: "bets", raise: "raises", fold: "folds" }[event.type];
  return `${name(event.seat)} ${verb}${event.chips ? `, pays ${counted(event.chips, "chip")}` : ""}.`;
}

function paContract(event, name) {
  const verb = event.low_bidders.length === 1 ? "plays" : "play";
  const stake = counted(event.stake, "point");
  const draws = counted(event.draws, "card");
  return `${seatsInWords(event.low_bidders, name)} ${verb} for ${stake}; up to ${draws} to draw.`;
}

function paExchanged(event, name) {
  const source = event.from === "deck" ? "the deck" : `the pile of ${name(event.from)}`;
  const closed = event.pile === "down" ? " face down" : "";
  const drawn = theCard(event.drawn);
  return `${name(event.seat)} discards ${theCard(event.discard)}${closed}, draws ${drawn} from ${source}.`;
}

function paPot(event, name) {
  const shares = event.seats.map((seat, place) => `${name(seat)} takes ${event.shares[place]}`);
  return `Of a pot of ${counted(event.chips, "chip")} ${listInWords(shares)}.`;
}

function paRoundEnd(event, name) {
  const verb = event.winners.length === 1 ? "has" : "have";
  const gains = event.delta.flatMap((points, seat) => (points ? [paGain(points, name(seat))] : []));
  return `${seatsInWords(event.winners, name)} ${verb} the best hand${gains.length ? `: ${listInWords(gains)}` : ""}.`;
}

function paGain(points, who) {
  return `${who} ${points > 0 ? "wins" : "loses"} ${counted(Math.abs(points), "point")}`;
}

function paCapital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function paReached(event, seat) {
  const tallied = event.returns.some((tally, other) => tally !== event.scores[other]);
  return tallied
    ? `a tally of ${counted(event.returns[seat], "chip")}`
    : counted(event.scores[seat], "point");
}

const PA_TELLS = {
  opener: (event, name) => `${name(event.seat)} is drawn to open.`,
  vote: (event, name) =>
    `On ${paMotion(event.motion)}: ${event.votes.map((vote, seat) => `${name(seat)} votes ${vote}`).join(", ")}.`,
  throw: (event, name) =>
    `${listInWords(event.seats.map((seat, place) => `${name(seat)} throws ${event.signs[place]}`))}.`,
  motion: paMotionCarried,
  round: (event, name) => `Round ${event.round}, opened by ${name(event.opener)}.`,
  deal: paDeal,
  ante: (event, name) => `${name(event.seat)} antes ${counted(event.chips, "chip")}.`,
  wager: paWager,
  bid: (event, name) => `${name(event.seat)} bids ${counted(event.cards, "card")}.`,
  pass: (event, name) => `${name(event.seat)} ${event.phase === "bidding" ? "passes" : "draws no more"}.`,
  contract: paContract,
  exchange: paExchanged,
  all_in: (event, name) => `All in: ${event.seats.length ? seatsInWords(event.seats, name) : "nobody"}.`,
  show: (event, name) => `${name(event.seat)} shows ${cardsInWords(event.cards)}.`,
  hide: (event, name) => `${name(event.seat)} does not show.`,
  pot: paPot,
  round_end: paRoundEnd,
  match_end: (event, name) => endInWords(event, name, (seat) => paReached(event, seat)),
};

export const princeAlbert = makeTable({
  game: "prince-albert",
  scoreName: "points",
  fresh: paFresh,
  happens: PA_HAPPENS,
  draw: paDraw,
  mask: paMask,
  tells: PA_TELLS,
  opens: (event) => (event.event === "round" ? `Round ${event.round}` : null),
  scoresOf: (facts) => facts.points,
});
