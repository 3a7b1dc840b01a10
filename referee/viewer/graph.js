// Show the scores of all seats over the match as a clickable graph and as a table.

import { draw, make, tableOf, text } from "./dom.js";
import { capitalized, numberWords, seatWords } from "./words.js";

const HEIGHT = 240;
const ROOM = { left: 44, right: 96, top: 12, bottom: 24 };
const DASHES = [null, "8 4", "2 4", "12 4 2 4"]; // with five colours, enough to distinguish twenty seats
const COLOURS = 5;
const TICKS = 4;

/** Show the graph. `goTo(at)` is called with the clicked moment. */
export class Graph {
  constructor(replay, { goTo }) {
    this.replay = replay;
    this._goTo = goTo;
    this.place = make("div", { class: "graph" });
    this.values = make("div", {});
    const what = replay.table.scoreName === "chips" ? "Chips" : "Scores";
    this.element = make("section", { class: "panel graph-panel" }, make("h2", {}, `${what} over the match`), this.place,
      make("details", {}, make("summary", {}, "The figures as a table"), this.values));
  }

  /** Redraw the graph and the table at the available width. */
  redraw() {
    const { scores } = this.replay;
    this.element.hidden = scores.length < 2;
    if (this.element.hidden) return;
    this._scale(Math.max(280, this.place.clientWidth));
    const svg = draw("svg", { width: this.width, height: HEIGHT, viewBox: `0 0 ${this.width} ${HEIGHT}`, role: "img",
      "aria-label": "One line per seat; the table below has the figures", click: (event) => this._clicked(event) });
    this._cursor = draw("line", { class: "cursor", y1: ROOM.top, y2: HEIGHT - ROOM.bottom });
    svg.append(...this._grid(), this._cursor, ...this._lines());
    this.place.replaceChildren(svg);
    this.values.replaceChildren(this._table());
    this.show(this._at ?? 0);
  }

  show(at) {
    this._at = at;
    if (!this._cursor) return;
    const x = this._x(at).toFixed(1);
    this._cursor.setAttribute("x1", x);
    this._cursor.setAttribute("x2", x);
  }

  _scale(width) {
    const all = this.replay.scores.flatMap((change) => change.scores);
    const [low, high] = all.reduce(([least, most], score) => [Math.min(least, score), Math.max(most, score)], [all[0], all[0]]);
    this.width = width;
    this.low = low > 0 && low < high / 2 ? 0 : low; // if all scores are far from zero, show their differences
    this.high = high === low ? low + 1 : high;
  }

  _x(at) {
    return ROOM.left + ((this.width - ROOM.left - ROOM.right) * at) / Math.max(1, this.replay.last);
  }

  _y(score) {
    return HEIGHT - ROOM.bottom - ((HEIGHT - ROOM.top - ROOM.bottom) * (score - this.low)) / (this.high - this.low);
  }

  _grid() {
    const step = niceStep((this.high - this.low) / TICKS);
    const lines = [];
    for (let score = Math.ceil(this.low / step) * step; score <= this.high; score += step) {
      const y = this._y(score).toFixed(1);
      lines.push(draw("line", { class: score === 0 ? "zero" : "grid", x1: ROOM.left, x2: this.width - ROOM.right, y1: y, y2: y }),
        draw("text", { x: ROOM.left - 6, y: Number(y) + 4, "text-anchor": "end" }, numberWords(score)));
    }
    return [...lines, ...this._roundTicks()];
  }

  _roundTicks() {
    const rounds = this.replay.rounds.slice(1);
    const every = Math.ceil((rounds.length * 70) / (this.width - ROOM.left - ROOM.right));
    return rounds.filter((_, place) => place % Math.max(1, every) === 0).map((round) =>
      draw("text", { x: this._x(round.start).toFixed(1), y: HEIGHT - 6 }, text(round.title).slice(0, 10)));
  }

  _lines() {
    const { scores, header } = this.replay;
    const seats = Array.from({ length: header.seats }, (_, seat) => seat);
    const labels = spreadOut(seats.map((seat) => this._y(scores.at(-1).scores[seat])), HEIGHT - ROOM.bottom, 13);
    return seats.flatMap((seat) => {
      const points = [];
      scores.forEach((change, index) => {
        if (index) points.push(`${this._x(change.at).toFixed(1)},${this._y(scores[index - 1].scores[seat]).toFixed(1)}`);
        points.push(`${this._x(change.at).toFixed(1)},${this._y(change.scores[seat]).toFixed(1)}`);
      });
      points.push(`${this._x(this.replay.last).toFixed(1)},${this._y(scores.at(-1).scores[seat]).toFixed(1)}`);
      const look = `line line-${seat % COLOURS}`;
      return [draw("polyline", { class: look, points: points.join(" "), "stroke-dasharray": DASHES[seat % DASHES.length] }),
        draw("text", { class: `label line-${seat % COLOURS}`, x: this.width - ROOM.right + 8, y: (labels[seat] + 4).toFixed(1) }, this._label(seat))];
    });
  }

  _label(seat) {
    const name = this.replay.header.players[seat]?.name;
    const whole = name ? `${seat + 1} ${text(name)}` : seatWords(seat);
    return whole.length > 13 ? `${whole.slice(0, 12)}…` : whole;
  }

  _clicked(event) {
    const box = event.currentTarget.getBoundingClientRect();
    const inside = (event.clientX - box.left) * (this.width / box.width) - ROOM.left;
    const share = inside / (this.width - ROOM.left - ROOM.right);
    this._goTo(Math.round(Math.min(1, Math.max(0, share)) * this.replay.last));
  }

  /** Return a table of the scores at the end of each round, with buttons that jump there. */
  _table() {
    const { rounds, scores, header } = this.replay;
    const rows = rounds.map((round, place) => {
      const end = this.replay.bounds(place)[1] - 1;
      const there = scores.findLast((change) => change.at <= end)?.scores ?? [];
      const jump = make("button", { type: "button", class: "small", click: () => this._goTo(end) }, text(round.title));
      return [jump, ...Array.from({ length: header.seats }, (_, seat) => (seat in there ? numberWords(there[seat]) : "–"))];
    });
    const names = header.players.length ? header.players.map((player, seat) => `${seat + 1} ${text(player.name)}`) : rows[0].slice(1).map((_, seat) => capitalized(seatWords(seat)));
    return tableOf("At the end of each round", ["Round", ...names], rows, { numbers: names.map((_, seat) => seat + 1) });
  }
}

/** Return heights that are at least `gap` apart and at most `floor`, in the given order. */
function spreadOut(heights, floor, gap) {
  const order = heights.map((height, index) => ({ height, index })).sort((left, right) => left.height - right.height);
  order.forEach((label, place) => {
    if (place) label.height = Math.max(label.height, order[place - 1].height + gap);
  });
  for (let place = order.length - 1, limit = floor; place >= 0; place--, limit -= gap) {
    order[place].height = Math.min(order[place].height, limit);
  }
  const spread = [];
  for (const label of order) spread[label.index] = label.height;
  return spread;
}

function niceStep(rough) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)));
  return Math.max(1, [1, 2, 2.5, 5, 10].map((factor) => factor * ten).find((step) => step >= rough && (step < 1 || Number.isInteger(step))));
}
