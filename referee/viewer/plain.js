// Games without a drawing of their own: their events are told, in the sentences of their presentation if they have one.

import { Sentences, plainly } from "./sentences.js";

/** A table module for a game; `presentation` is null for one that is not known. */
export function plainTable(game, presentation) {
  const sentences = presentation && new Sentences(presentation);
  return {
    game,
    begin: (header) => ({ ...emptyPosition(header.seats), title: wordsOfGame(game) }),
    apply: (position) => position,
    // Where it is not known what may be seen, nothing is shown.
    shown: (events, viewer) => (presentation?.secrets ? events.map((event) => masked(event, viewer, presentation.secrets)) : []),
    tell: (event, name) => (sentences?.text(event, name) ?? plainly(event, name)) || null,
    opens: (event) => sentences?.opens(event) || null,
    scores: (position) => position.seats.map(() => 0),
    scoreName: presentation ? `${presentation.score}s` : "score",
  };
}

/** A game's name as people write it. */
export function wordsOfGame(game) {
  return game.split("-").map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join(" ");
}

/** A position without anything on the table. */
export function emptyPosition(seats) {
  const seat = { hand: [], up: [], played: null, piles: [], chips: null, score: null, marks: [], out: false, toAct: false };
  return {
    title: "", phase: "", seats: Array.from({ length: seats }, () => seat),
    centre: [], moved: [], said: [], over: false, placements: null,
  };
}

/** An event without the cards that the game declares secret. */
function masked(event, viewer, secrets) {
  const hidden = (cards) => cards.map(() => "??");
  const own = secrets.filter((secret) => secret.event === event.event).map(({ member, by_seat: bySeat }) => {
    const cards = event[member];
    return [member, bySeat ? cards.map((hand, seat) => (seat === viewer ? hand : hidden(hand))) : hidden(cards)];
  });
  return { ...event, ...Object.fromEntries(own) };
}
