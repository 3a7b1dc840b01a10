// Draw the table and its seats from a position, independently of the game.

import { cardPicture, showFan } from "./cards.js";
import { centreOf } from "./centre.js";
import { make, nameOf, setText, text } from "./dom.js";
import { capitalized, cardWords, countNoun, numberWords, seatWords } from "./words.js";

const SIDES = { // by number of seats: how many are below, left, above and right
  1: [1, 0, 0, 0], 2: [1, 0, 1, 0], 3: [1, 0, 2, 0], 4: [1, 1, 1, 1], 5: [1, 1, 2, 1], 6: [2, 1, 2, 1],
  7: [2, 1, 3, 1], 8: [3, 1, 3, 1], 9: [2, 2, 3, 2], 10: [3, 2, 3, 2],
};
const COLUMNS = 12;
const SIDE = 3; // width of a seat at the left or right, in columns

/** Show the table of a match in `element`. */
export class TableView {
  constructor(replay) {
    this.replay = replay;
    this.seats = Array.from({ length: replay.header.seats }, (_, seat) => seatView(replay, seat));
    this.centre = make("div", { class: "centre", role: "group", "aria-label": "Middle of the table" });
    this.element = make("div", { class: "felt", "data-seats": this.seats.length }, this.seats.map((seat) => seat.root), this.centre);
    this._tallest = 0;
    this._first = null;
    this.place(0);
  }

  /** Arrange the seats around the table so that `first` is the nearest. */
  place(first) {
    if (first === this._first) return;
    this._first = first;
    const sides = SIDES[this.seats.length] ?? manySides(this.seats.length);
    const places = placesAround(sides);
    this.seats.forEach((seat, number) => {
      const place = places[(number - first + this.seats.length) % this.seats.length];
      seat.root.style.setProperty("--columns", place.columns);
      seat.root.style.setProperty("--rows", place.rows);
      seat.root.dataset.side = place.side;
    });
    this.centre.style.setProperty("--columns", sides[1] || sides[3] ? `${SIDE + 1} / ${COLUMNS + 1 - SIDE}` : "1 / -1");
    this.settle();
  }

  /** Reset the height of the middle after a change of the page width. */
  settle() {
    this._tallest = 0;
    this.centre.style.minHeight = "";
  }

  show(position) {
    const moved = movedToSeats(position);
    const said = Array.isArray(position.said) ? position.said : [];
    this.seats.forEach((view, seat) => {
      const own = position.seats[seat] ?? {};
      showSeat(view, own, { moved, said: said.filter((remark) => remark?.seat === seat), scoreName: this.replay.table.scoreName });
    });
    const aloud = said.filter((remark) => remark?.seat === null).map((remark) => make("p", { class: "aloud" }, text(remark.text)));
    this.centre.replaceChildren(...centreOf(position, (seat) => this.replay.nameOf(seat)), ...aloud);
    this._keepHeight();
  }

  /** Prevent the middle from shrinking while stepping, so that the page below it does not jump. */
  _keepHeight() {
    const height = this.centre.offsetHeight;
    if (height > this._tallest) {
      this._tallest = height;
      this.centre.style.minHeight = `${height}px`;
    }
  }
}

function seatView(replay, seat) {
  const { shape } = replay;
  const name = replay.header.players[seat]?.name;
  const label = capitalized(seatWords(seat));
  const view = {
    turn: make("span", { class: "turn", hidden: true }, "to act"),
    chips: make("span", { class: "chips" }),
    marks: make("p", { class: "marks" }),
    hand: make("div", { class: "fan hand" }),
    up: make("div", { class: "fan up" }),
    played: make("div", { class: "fan played" }),
    piles: make("div", { class: "piles" }),
    bubble: make("p", { class: "bubble", hidden: true }),
  };
  const who = make("p", { class: "who" }, make("span", { class: "chair", title: label }, String(seat + 1)),
    make("b", {}, name ? nameOf(name) : label), view.turn);
  const stuff = make("div", { class: "stuff" }, view.hand, view.up, view.played, view.piles);
  stuff.classList.toggle("two", shape.hand > 0 && shape.up > 0);
  stuff.classList.toggle("bare", !shape.hand && !shape.up && !shape.played && !shape.piles);
  view.root = make("section", { class: "seat", "aria-label": name ? `${label}, ${text(name)}` : label },
    who, make("div", { class: "state-line" }, view.marks, view.chips), stuff, view.bubble);
  return view;
}

function showSeat(view, own, { moved, said, scoreName }) {
  view.root.classList.toggle("acting", own.toAct === true);
  view.root.classList.toggle("gone", own.out === true);
  view.turn.hidden = own.toAct !== true;
  setText(view.chips, scoreText(own, scoreName));
  const marks = Array.isArray(own.marks) ? own.marks.slice(0, 12) : [];
  view.marks.replaceChildren(...marks.map((mark) => make("span", { class: "mark" }, text(mark))));
  showFan(view.hand, own.hand, { label: "Hand", moved });
  showFan(view.up, own.up, { label: "Open cards", moved });
  showFan(view.played, own.played ? [own.played] : [], { label: "Played", moved });
  view.piles.replaceChildren(...(Array.isArray(own.piles) ? own.piles : []).slice(0, 6).map(seatPile));
  view.bubble.hidden = !said.length;
  setText(view.bubble, said.map((remark) => text(remark.text)).join("; "));
}

/** Return the moved cards without those in the middle, since with two packs, a seat may have equal cards. */
function movedToSeats({ moved, centre }) {
  const middle = new Set((centre ?? []).flatMap((item) => (Array.isArray(item?.cards) ? item.cards.map((entry) => entry?.card) : [])));
  return (Array.isArray(moved) ? moved : []).filter((card) => !middle.has(card));
}

function scoreText(own, scoreName) {
  const parts = [];
  if (Number.isFinite(own.chips)) parts.push(countNoun(own.chips, "chip"));
  if (Number.isFinite(own.score)) parts.push(scoreName === "chips" ? `score ${numberWords(own.score)}` : `${numberWords(own.score)} ${scoreName}`);
  return parts.join(" · ");
}

function seatPile(pile) {
  const count = Number(pile?.count) || 0;
  const top = pile?.top ? `, ${cardWords(pile.top)} on top` : "";
  return make("span", { class: "pile small", role: "img", "aria-label": `${text(pile?.name)}: ${count}${top}`, title: `${text(pile?.name)}: ${count}` },
    cardPicture(pile?.top ?? "??"), make("b", { class: "count" }, String(count)));
}

/** Return the grid area of each seat, clockwise from the seats below. */
function placesAround([below, left, above, right]) {
  const rowOf = (count, row, side, reversed) => Array.from({ length: count }, (_, i) => {
    const span = Math.min(6, Math.floor(COLUMNS / count));
    const start = 1 + Math.floor((COLUMNS - span * count) / 2) + span * (reversed ? count - 1 - i : i);
    return { side, columns: `${start} / span ${span}`, rows: `${row}` };
  });
  const columnOf = (count, columns, side, reversed) => Array.from({ length: count }, (_, i) => {
    const row = reversed ? count - 1 - i : i;
    return { side, columns, rows: count === 1 ? "2 / span 2" : `${2 + row}` };
  });
  return [
    ...rowOf(below, 4, "below", true),
    ...columnOf(left, `1 / span ${SIDE}`, "left", true),
    ...rowOf(above, 1, "above", false),
    ...columnOf(right, `${COLUMNS + 1 - SIDE} / span ${SIDE}`, "right", false),
  ];
}

function manySides(seats) {
  const below = Math.ceil(seats / 2);
  return [below, 0, seats - below, 0];
}
