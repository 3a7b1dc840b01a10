// Show games without a table module by describing their events, with the sentences of their presentation if any.

import { Sentences, describeEvent } from "./sentences.js";

/** Return a table module that draws nothing. `presentation` is null for an unknown game. */
export function plainTable(game, presentation) {
  const sentences = presentation && new Sentences(presentation);
  return {
    game,
    begin: (header) => ({ ...emptyPosition(header.seats), title: gameTitle(game) }),
    apply: (position) => position,
    // If the secrets of a game are unknown, nothing is visible.
    visibleEvents: (events, viewer) => (presentation?.secrets ? events.map((event) => maskEvent(event, viewer, presentation.secrets)) : []),
    describe: (event, name) => (sentences?.text(event, name) ?? describeEvent(event, name)) || null,
    roundTitle: (event) => sentences?.roundTitle(event) || null,
    scores: (position) => position.seats.map(() => 0),
    scoreName: presentation ? `${presentation.score}s` : "score",
  };
}

/** Return the title of a game, like "Pool Nap" for "pool-nap". */
export function gameTitle(game) {
  return game.split("-").map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join(" ");
}

/** Return an empty position. */
export function emptyPosition(seats) {
  const seat = { hand: [], up: [], played: null, piles: [], chips: null, score: null, marks: [], out: false, toAct: false };
  return {
    title: "", phase: "", seats: Array.from({ length: seats }, () => seat),
    centre: [], moved: [], said: [], over: false, placements: null,
  };
}

/** Return an event with the cards hidden that the game declares secret. */
function maskEvent(event, viewer, secrets) {
  const hidden = (cards) => cards.map(() => "??");
  const own = secrets.filter((secret) => secret.event === event.event).map(({ member, by_seat: bySeat }) => {
    const cards = event[member];
    return [member, bySeat ? cards.map((hand, seat) => (seat === viewer ? hand : hidden(hand))) : hidden(cards)];
  });
  return { ...event, ...Object.fromEntries(own) };
}
