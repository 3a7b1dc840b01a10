// Games without a drawing of their own: their events are told as they stand, for whoever may see everything.

/** A table module for a game this viewer does not know. */
export function plainTable(game) {
  return {
    game,
    begin: (header) => ({ ...emptyPosition(header.seats), title: wordsOfGame(game) }),
    apply: (position) => position,
    shown: () => [], // what may be seen is not known, so nothing is
    tell: (event) => plainly(event),
    opens: () => null,
    scores: (position) => position.seats.map(() => 0),
    scoreName: "score",
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

/** Any event: its name and its members. */
export function plainly(event) {
  const members = Object.entries(event).filter(([key]) => key !== "event");
  const told = members.map(([key, value]) => `${key.replaceAll("_", " ")} ${plainValue(value)}`).join(", ");
  return `${String(event.event).replaceAll("_", " ")}${told ? `: ${told}` : ""}`;
}

function plainValue(value) {
  if (Array.isArray(value)) return `[${value.map(plainValue).join(" ")}]`;
  if (value && typeof value === "object") return JSON.stringify(value);
  return value === null ? "–" : String(value);
}
