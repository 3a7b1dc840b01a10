// Draw the position of Prince Albert: hands, discards, bids, votes and chips. prince_albert_round.js applies events.

import { HIDDEN_CARD, hideCards, makeTable, perSeat } from "./common.js";
import { PA_HAPPENS, paFresh } from "./prince_albert_round.js";
import { countNoun } from "../words.js";

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
    title: round ? `Round ${round}, to ${countNoun(options.target, "point")}` : "Before the first round",
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
  const marks = [
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
  return marks.flatMap(([holds, mark]) => (holds ? [mark] : []));
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
    centre.push({ kind: "note", name, text: countNoun(facts.bid, "card") });
  }
  if (facts.stake) {
    centre.push({ kind: "note", name: "Stake", text: countNoun(facts.stake, "point") });
    centre.push({ kind: "note", name: "Draws", text: `up to ${facts.draws}` });
  }
  return centre;
}

function paMotion(motion) {
  return motion.replaceAll("_", " ");
}

// -- visibility --

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

export const princeAlbert = makeTable({
  game: "prince-albert",
  fresh: paFresh,
  handlers: PA_HAPPENS,
  draw: paDraw,
  scoresOf: (facts) => facts.points,
  visibleEvents: (events, viewer) => events.map((event) => paMask(event, viewer)).filter(Boolean),
});
