// Play matches through the table modules of the viewer: JSON on standard input and output.
// Input: {folder, presentations, plays: [{game, header, rows: [[event]], views}]}; a view is "open", null or a seat.
// Output by play: an object per view with `shown` (the visible events of the match), `positions` (after each row),
// `scores`, `told` and `opened` (sentences and round titles by event) and `leaks` (cards in a position that no visible
// event named). A play {game, events} returns [sentence, details, round title, description] by event. The view
// "peeking" is the public's, with positions made from the open events.

import { readFileSync } from "node:fs";

const CARD = /"((?:[2-9TJQKA][cdhs])|X[1-4])"/g;

const JOKERS = { X3: "X1", X4: "X2" }; // drawn alike

const { folder, presentations, plays } = JSON.parse(readFileSync(0, "utf8"));
const { plainTable } = await import(`${folder}/plain.js`);
const { Sentences, describeEvent } = await import(`${folder}/sentences.js`);
const modules = {};
for (const [game, presentation] of Object.entries(presentations)) {
  const drawn = presentation.table ? Object.values(await import(`${folder}/${presentation.table}`)) : [];
  modules[game] = Object.assign(plainTable(game, presentation), drawn.find((table) => table?.game === game));
}
const answers = plays.map((play) => (play.events ? describeAll(play) : play.views.map((view) => watch(play, view))));
process.stdout.write(JSON.stringify(answers));

function describeAll({ game, events }) {
  const sentences = new Sentences(presentations[game]);
  return events.map((event) => [
    sentences.text(event, nameOf), sentences.detail(event, nameOf), sentences.roundTitle(event), describeEvent(event, nameOf),
  ]);
}

function nameOf(seat) {
  return `<${seat}>`;
}

function watch({ game, header, rows }, view) {
  const table = modules[game];
  const seat = view === "peeking" ? null : view;
  const mask = (events) => (view === "open" ? events : table.visibleEvents(events, seat, header.options));
  const out = { shown: mask(rows.flat()), positions: [], scores: [], told: [], opened: [], leaks: [] };
  const seen = new Set();
  let position = frozen(table.begin(frozen(header)));
  for (const row of rows) {
    cardsIn(mask(row)).forEach((card) => seen.add(card));
    for (const event of view === "peeking" ? row : mask(row)) {
      position = frozen(table.apply(position, frozen(event)));
      out.told.push([event.event, table.describe(event, nameOf)]);
      out.opened.push(table.roundTitle(event));
    }
    out.leaks.push(...cardsIn(withoutSpaces(position)).filter((card) => !seen.has(card)));
    const { facts, ...drawn } = position;
    out.positions.push(drawn);
    out.scores.push(table.scores(position));
  }
  return out;
}

/** Remove boards, whose spaces are named by cards that everybody knows. */
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
