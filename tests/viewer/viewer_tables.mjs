// Plays matches through the games of the replay viewer: JSON on standard input and on standard output.
// Given {tables: {game: [file, name]}, plays: [{game, header, rows: [[event]], views}]}, views being "open", null or a
// seat. Given back, a play: one object a view with `shown` (the whole match as that viewer may read it), `positions`
// (after each row), `scores`, `told` and `opened` (by event) and `leaks` (cards a position knows from nowhere).
// Of {game, events} only the sentences are given back. The view "peeking" is the public's, with positions made from the
// open events.

import { readFileSync } from "node:fs";

const CARD = /"((?:[2-9TJQKA][cdhs])|X[1-4])"/g;

const JOKERS = { X3: "X1", X4: "X2" }; // drawn alike

const { tables, plays } = JSON.parse(readFileSync(0, "utf8"));
const modules = {};
for (const [game, [file, name]] of Object.entries(tables)) {
  modules[game] = (await import(file))[name];
}
const answers = plays.map((play) => (play.events ? told(play) : play.views.map((view) => watched(play, view))));
process.stdout.write(JSON.stringify(answers));

function told({ game, events }) {
  return events.map((event) => modules[game].tell(event, (seat) => `<${seat}>`));
}

function watched({ game, header, rows }, view) {
  const table = modules[game];
  const seat = view === "peeking" ? null : view;
  const mask = (events) => (view === "open" ? events : table.shown(events, seat, header.options));
  const name = (seat) => `<${seat}>`;
  const out = { shown: mask(rows.flat()), positions: [], scores: [], told: [], opened: [], leaks: [] };
  const seen = new Set();
  let position = frozen(table.begin(frozen(header)));
  for (const row of rows) {
    cardsIn(mask(row)).forEach((card) => seen.add(card));
    for (const event of view === "peeking" ? row : mask(row)) {
      position = frozen(table.apply(position, frozen(event)));
      out.told.push([event.event, table.tell(event, name)]);
      out.opened.push(table.opens(event));
    }
    out.leaks.push(...cardsIn(withoutSpaces(position)).filter((card) => !seen.has(card)));
    const { facts, ...drawn } = position;
    out.positions.push(drawn);
    out.scores.push(table.scores(position));
  }
  return out;
}

/** The spaces of a board are called by cards; so everybody knows those. */
function withoutSpaces(position) {
  const centre = position.centre.filter(({ kind }) => kind !== "board");
  return { ...position, centre, facts: { ...position.facts, board: null } };
}

function cardsIn(value) {
  return [...JSON.stringify(value).matchAll(CARD)].map(([, card]) => JOKERS[card] ?? card);
}

function frozen(value) {
  if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}
