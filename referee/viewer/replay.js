// A match as a line of moments, and the table as it stood at any of them, for any viewer. Drawing it is left to others.

import { emptyPosition } from "./plain.js";

const BLOCK = 64; // moments between two kept positions where nothing is masked

/** Sees everything; other viewers are a seat's number, or null for the public. */
export const OPEN = "open";

/**
 * One moment is one event, or a decision that shows nothing yet: {row, event|null, round, first}; `first` tells that the
 * moment begins its row. Rows that arrive masked (`live`) are shown as they come.
 */
export class Replay {
  constructor(header, table, rows, { live = false } = {}) {
    this.header = header;
    this.table = table;
    this.live = live;
    this.rows = new Map(); // by number
    this.moments = [];
    this.rounds = [{ title: "Beginning", start: 0 }];
    this.decisions = []; // moments that begin a decision
    this.scores = []; // {at, scores} wherever they change
    this.shape = { hand: 0, up: 0, played: 0, piles: 0, marks: 0, centre: 0 };
    this._position = this._begun();
    this._kept = new Map(); // viewer -> positions before each block
    this._cached = null;
    this.add(rows);
  }

  /** Takes further rows. */
  add(rows) {
    for (const row of rows) {
      const number = row.row;
      if (this.rows.has(number)) continue;
      this.rows.set(number, row);
      if (row.type === "header" || row.type === "result" || row.type === "reveal") continue;
      const events = row.events?.length ? row.events : row.type === "decision" ? [null] : [];
      events.forEach((event, place) => this._addMoment({ row: number, event, first: place === 0 }));
      if (row.type === "decision" && events.length) this.decisions.push(this.moments.length - events.length);
    }
    this._kept.clear();
    this._cached = null;
  }

  get last() {
    return this.moments.length - 1;
  }

  /** The row a moment belongs to. */
  rowAt(at) {
    return this.rows.get(this.moments[at]?.row);
  }

  /** The result row, once there is one. */
  get result() {
    return [...this.rows.values()].find((row) => row.type === "result") ?? null;
  }

  roundAt(at) {
    return this.moments[at]?.round ?? 0;
  }

  /** Where a round begins and where the next one does. */
  bounds(round) {
    return [this.rounds[round].start, this.rounds[round + 1]?.start ?? this.moments.length];
  }

  /** The first moment of row `number`, or -1. */
  momentOfRow(number) {
    return this.moments.findIndex((moment) => moment.row === number);
  }

  /** The first moment of decision point `n`, or -1. */
  momentOfDecision(n) {
    return this.decisions.find((at) => this.rowAt(at).n === n) ?? -1;
  }

  /** The table after a moment, as a viewer sees it. */
  positionAt(at, viewer) {
    const cached = this._cached;
    if (cached?.at === at && cached.viewer === viewer) return cached.position;
    let position;
    if (!this._masks(viewer) && cached?.viewer === viewer && cached.at === at - 1) {
      position = this._applied(cached.position, this.moments[at].event);
    } else {
      const starts = this._starts(viewer);
      const block = lastAtMost(starts, at);
      position = this._folded(this._positionBefore(viewer, block), this._seen(starts[block], at + 1, viewer));
      if (!this.eventAt(at, viewer)) position = this._applied(position, null);
    }
    this._cached = { at, viewer, position };
    return position;
  }

  /** The event of a moment as a viewer sees it; null when there is nothing to see. */
  eventAt(at, viewer) {
    const { event, round } = this.moments[at];
    if (!event || !this._masks(viewer)) return event;
    if (!this._shown([event], viewer).length) return null;
    return this._seen(this.rounds[round].start, at + 1, viewer).at(-1) ?? null;
  }

  /** The events of a stretch within one round by moment, as a viewer sees them. */
  eventsBetween(start, end, viewer) {
    if (!this._masks(viewer)) return this.moments.slice(start, end).map((moment) => moment.event);
    const first = this.rounds[this.roundAt(start)].start;
    const seen = this._seen(first, end, viewer);
    const events = [];
    let next = 0;
    for (let at = first; at < end; at++) {
      const { event } = this.moments[at];
      const told = event && this._shown([event], viewer).length ? (seen[next++] ?? null) : null;
      if (at >= start) events.push(told);
    }
    return events;
  }

  /** An event in words, or null. */
  tell(event) {
    const name = (seat) => this.nameOf(seat);
    return this._attempt(() => this.table.tell(event, name), null);
  }

  /** Who sits there; the seat is told where names are missing or the same. */
  nameOf(seat) {
    const name = this.header.players[seat]?.name;
    if (!name) return `Seat ${seat}`;
    const twins = this.header.players.filter((player) => player.name === name).length > 1;
    return twins ? `${name} (seat ${seat})` : name;
  }

  _addMoment(moment) {
    const at = this.moments.length;
    const title = moment.event ? this._attempt(() => this.table.opens(moment.event), null) : null;
    if (title) {
      if (at === this.rounds.at(-1).start) this.rounds.pop();
      this.rounds.push({ title: String(title), start: at });
    }
    this.moments.push({ ...moment, round: this.rounds.length - 1 });
    this._position = this._applied(this._position, moment.event);
    this._measure(at);
  }

  /** Keeps the scores where they change, and how much room the fullest seat takes, so that nothing jumps. */
  _measure(at) {
    const scores = this._attempt(() => this.table.scores(this._position).map(Number), []);
    if (scores.length === this.header.seats && scores.every(Number.isFinite)) {
      const before = this.scores.at(-1)?.scores;
      if (!before || scores.some((score, seat) => score !== before[seat])) this.scores.push({ at, scores });
    }
    const { shape } = this;
    for (const seat of this._position.seats) {
      shape.hand = Math.max(shape.hand, seat.hand?.length ?? 0);
      shape.up = Math.max(shape.up, seat.up?.length ?? 0);
      shape.piles = Math.max(shape.piles, seat.piles?.length ?? 0);
      shape.marks = Math.max(shape.marks, seat.marks?.length ?? 0);
      if (seat.played) shape.played = 1;
    }
    shape.centre = Math.max(shape.centre, this._position.centre?.length ?? 0);
  }

  _masks(viewer) {
    return viewer !== OPEN && !this.live;
  }

  /** Where positions are kept: masked views hold together within a round, as later events may open earlier ones. */
  _starts(viewer) {
    if (this._masks(viewer)) return this.rounds.map((round) => round.start);
    return Array.from({ length: Math.ceil(this.moments.length / BLOCK) }, (_, block) => block * BLOCK);
  }

  _positionBefore(viewer, block) {
    const starts = this._starts(viewer);
    const kept = this._kept.get(viewer) ?? [this._begun()];
    this._kept.set(viewer, kept);
    while (kept.length <= block) {
      const before = kept.length - 1;
      kept.push(this._folded(kept[before], this._seen(starts[before], starts[before + 1], viewer)));
    }
    return kept[block];
  }

  _seen(start, end, viewer) {
    const events = this.moments.slice(start, end).map((moment) => moment.event).filter(Boolean);
    return this._masks(viewer) ? this._shown(events, viewer) : events;
  }

  _shown(events, viewer) {
    return this._attempt(() => this.table.shown(events, viewer, this.header.options), []);
  }

  _begun() {
    return this._attempt(() => this.table.begin(this.header), emptyPosition(this.header.seats));
  }

  _folded(position, events) {
    return events.reduce((before, event) => this._applied(before, event), position);
  }

  _applied(position, event) {
    if (!event) return { ...position, moved: [], said: [] };
    return this._attempt(() => this.table.apply(position, event), position);
  }

  /** A log may hold what no game would write: then the table stays as it was. */
  _attempt(work, otherwise) {
    try {
      return work() ?? otherwise;
    } catch {
      return otherwise;
    }
  }
}

function lastAtMost(starts, at) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
