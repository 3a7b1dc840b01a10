// Draw the table and its seats from a position, independently of the game.

import { cardPicture, markSmall, showFan } from "./cards.js";
import { CentreView } from "./centre.js";
import { make, nameOf, setText, text } from "./dom.js";
import { capitalized, cardWords, countNoun, numberWords, seatWords } from "./words.js";

const SIDES = { // by number of seats: how many are below, left, above and right
  1: [1, 0, 0, 0], 2: [1, 0, 1, 0], 3: [1, 0, 2, 0], 4: [1, 1, 1, 1], 5: [1, 1, 2, 1], 6: [2, 1, 2, 1],
  7: [2, 1, 3, 1], 8: [3, 1, 3, 1], 9: [2, 2, 3, 2], 10: [3, 2, 3, 2],
};
const COLUMNS = 12;
const SIDE = 3; // width of a seat at the left or right, in columns
const VISIBLE = 0.27; // least visible part of a card below another one: its corner
const MOST_IN_ROW = 6; // cards in one row of a hand at the left or right
const MOST_STRIPS = 4; // opponents below one another in a narrow window; more are in two columns

/** Show the table of a match in `element`. Sizes depend only on the match and the window, so that nothing jumps. */
export class TableView {
  constructor(replay) {
    this.replay = replay;
    this.seats = Array.from({ length: replay.header.seats }, (_, seat) => seatView(replay, seat));
    this.centre = new CentreView((seat) => replay.nameOf(seat));
    this.element = make("div", { class: "felt", "data-seats": this.seats.length }, this.seats.map((seat) => seat.root), this.centre.element);
    this._first = 0;
    this._position = null;
    this.place(0);
    this._settled = "";
    new ResizeObserver(() => this._size() !== this._settled && this.settle()).observe(this.element);
  }

  /** Arrange the seats around the table so that `first` is the nearest. */
  place(first) {
    this._first = first;
    const count = this.seats.length;
    const sides = SIDES[count] ?? manySides(count);
    const places = placesAround(sides);
    this.seats.forEach((seat, number) => {
      const nth = (number - first + count) % count;
      const place = places[nth];
      seat.root.style.setProperty("--columns", place.columns);
      seat.root.style.setProperty("--rows", place.rows);
      seat.root.style.setProperty("--nth", nth === 0 ? count + 1 : nth); // in a narrow window, the nearest seat is the last
      seat.root.dataset.shape = place.shape;
      seat.root.classList.toggle("nearest", nth === 0);
      seat.root.classList.toggle("odd", nth === 1 && count % 2 === 0); // with two columns, it fills the first row
    });
    this.centre.element.style.setProperty("--columns", sides[1] || sides[3] ? `${SIDE + 1} / ${COLUMNS + 1 - SIDE}` : "1 / -1");
    this.element.style.setProperty("--strips", Math.ceil((count - 1) / (count - 1 > MOST_STRIPS ? 2 : 1)) || 1);
    this.element.classList.toggle("crowded", count - 1 > MOST_STRIPS);
    this.settle();
  }

  /** Choose the sizes again when the element was put into the page, or after a change of the largest numbers of cards. */
  settle() {
    if (!this.element.isConnected) return;
    this._settled = this._size();
    const { shape } = this.replay;
    const strips = getComputedStyle(this.element).getPropertyValue("--strips-shown").trim() === "1";
    for (const view of this.seats) measureSeat(view, shape, { strips });
    for (const view of this.seats) markSmall(view.root, view.probe);
    this.element.classList.toggle("with-board", shape.board);
    this.centre.fit(shape);
    if (this._position) this.show(this._position);
  }

  _size() {
    return `${this.element.offsetWidth} ${this.element.offsetHeight}`;
  }

  show(position) {
    this._position = position;
    const moved = movedToSeats(position);
    const said = Array.isArray(position.said) ? position.said : [];
    this.seats.forEach((view, seat) => {
      const own = position.seats[seat] ?? {};
      showSeat(view, own, { moved, said: said.filter((remark) => remark?.seat === seat), scoreName: this.replay.table.scoreName });
    });
    this.centre.show(position);
  }
}

function seatView(replay, seat) {
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
    bubble: make("span", { class: "bubble" }),
    probe: make("span", { class: "probe" }),
  };
  const who = make("p", { class: "who" }, make("span", { class: "chair", title: label }, String(seat + 1)),
    make("b", { title: name ? text(name) : null }, name ? nameOf(name) : label), view.turn);
  view.stuff = make("div", { class: "stuff" }, make("div", { class: "held" }, view.hand, view.up, view.played, view.probe));
  view.root = make("section", { class: "seat", "aria-label": name ? `${label}, ${text(name)}` : label },
    make("div", { class: "plate" }, make("div", { class: "says" }, who, view.chips, view.marks), view.piles),
    view.stuff);
  return view;
}

/** Tell the styles how many cards the seat must have room for. */
function measureSeat(view, shape, { strips }) {
  const { shape: form } = view.root.dataset;
  const narrow = !strips && form === "tall";
  view.root.classList.toggle("strip", strips ? !view.root.classList.contains("nearest") : form === "low");
  view.root.classList.toggle("tall", narrow);
  const rows = narrow && shape.hand > MOST_IN_ROW ? 2 : 1;
  const perRow = Math.ceil(shape.hand / rows);
  view.root.classList.remove("no-cards");
  const { style } = view.stuff;
  style.setProperty("--cards-wide", Math.max(1, fanWidth(perRow) + fanWidth(shape.up) + shape.played * 1.1));
  style.setProperty("--cards-high", rows);
  style.setProperty("--up-wide", fanWidth(shape.up));
  style.setProperty("--per-row", Math.max(1, perRow));
  view.perRow = perRow;
  view.root.classList.toggle("bare", !shape.hand && !shape.up && !shape.played);
  view.root.classList.toggle("with-piles", shape.piles > 0);
}

/** Return the least width of overlapping cards, in cards. */
function fanWidth(cards) {
  return cards ? 1 + (cards - 1) * VISIBLE : 0;
}

function showSeat(view, own, { moved, said, scoreName }) {
  view.root.classList.toggle("acting", own.toAct === true);
  view.root.classList.toggle("gone", own.out === true);
  view.turn.hidden = own.toAct !== true;
  view.chips.replaceChildren(...amountsOf(own, scoreName));
  const marks = Array.isArray(own.marks) ? own.marks.slice(0, 12) : [];
  setText(view.bubble, said.map((remark) => text(remark.text)).join("; "));
  view.marks.replaceChildren(...(said.length ? [view.bubble] : []), ...marks.map((mark) => make("span", { class: "mark" }, text(mark))));
  showFan(view.hand, own.hand, { label: "Hand", moved });
  view.root.classList.toggle("rows", own.hand?.length > view.perRow);
  view.root.classList.toggle("no-cards", !own.hand?.length && !own.up?.length && !own.played);
  showFan(view.up, own.up, { label: "Open cards", moved });
  showFan(view.played, own.played ? [own.played] : [], { label: "Played", moved });
  view.piles.replaceChildren(...(Array.isArray(own.piles) ? own.piles : []).slice(0, 2).map(seatPile));
}

/** Return the moved cards without those in the middle, since with two packs, a seat may have equal cards. */
function movedToSeats({ moved, centre }) {
  const middle = new Set((centre ?? []).flatMap((item) => (Array.isArray(item?.cards) ? item.cards.map((entry) => entry?.card) : [])));
  return (Array.isArray(moved) ? moved : []).filter((card) => !middle.has(card));
}

/** Return the chips and the score of a seat as elements. The units are hidden where there is little room. */
function amountsOf(own, scoreName) {
  const amounts = [];
  if (Number.isFinite(own.chips)) amounts.push(["", own.chips, countNoun(own.chips, " chip").slice(String(own.chips).length + 1)]);
  if (Number.isFinite(own.score)) amounts.push(scoreName === "chips" ? ["score ", own.score, ""] : ["", own.score, ` ${own.score === 1 ? scoreName.replace(/s$/, "") : scoreName}`]);
  return amounts.map(([before, number, unit], place) => [
    place ? " · " : "", make("span", { class: "unit" }, before), numberWords(number), make("span", { class: "unit" }, unit),
  ]).flat().filter(Boolean);
}

function seatPile(pile) {
  const count = Number(pile?.count) || 0;
  const top = pile?.top ? `, ${cardWords(pile.top)} on top` : "";
  return make("span", { class: "pile small", role: "img", "aria-label": `${text(pile?.name)}: ${count}${top}`, title: `${text(pile?.name)}: ${count}` },
    cardPicture(pile?.top ?? "??"), make("b", { class: "count" }, String(count)));
}

/** Return the grid area of each seat, clockwise from the seats below, and its shape: wide, tall or low. */
function placesAround([below, left, above, right]) {
  const rowOf = (count, row, reversed) => Array.from({ length: count }, (_, i) => {
    const span = Math.min(6, Math.floor(COLUMNS / count));
    const start = 1 + Math.floor((COLUMNS - span * count) / 2) + span * (reversed ? count - 1 - i : i);
    return { columns: `${start} / span ${span}`, rows: `${row}`, shape: "wide" };
  });
  const columnOf = (count, columns, reversed) => Array.from({ length: count }, (_, i) => {
    const row = reversed ? count - 1 - i : i;
    return { columns, rows: count === 1 ? "2 / span 2" : `${2 + row}`, shape: count === 1 ? "tall" : "low" };
  });
  return [
    ...rowOf(below, 4, true),
    ...columnOf(left, `1 / span ${SIDE}`, true),
    ...rowOf(above, 1, false),
    ...columnOf(right, `${COLUMNS + 1 - SIDE} / span ${SIDE}`, false),
  ];
}

function manySides(seats) {
  const below = Math.ceil(seats / 2);
  return [below, 0, seats - below, 0];
}
