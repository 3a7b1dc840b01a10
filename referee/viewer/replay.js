// Represent a match as a sequence of moments, and compute the position at each moment for each viewer.

import { emptyPosition } from "./plain.js";
import { capitalized, seatWords } from "./words.js";

const BLOCK = 64; // number of moments between two cached positions if nothing is masked

const MOST_CENTRES = 400; // maximum number of different middles of the table that are kept

/** The viewer who sees everything. Other viewers are a seat number from 0, or null for the public. */
export const OPEN = "open";

/**
 * Hold the rows and moments of a match. A moment {row, event, round, first} is an event, or a decision that has no events
 * yet (`event` is null). `first` marks the first moment of its row. Rows of a `live` match are public.
 */
export class Replay {
  constructor(header, table, rows, { live = false } = {}) {
    this.header = header;
    this.table = table;
    this.live = live;
    this.rows = new Map(); // by number
    this.moments = [];
    this.rounds = [{ title: "Beginning", start: 0 }];
    this.decisions = []; // moments at which a decision begins
    this.scores = []; // {at, scores} at each change
    this.shape = { hand: 0, up: 0, played: 0, piles: 0, aloud: false, board: false, centres: new Map() };
    this._position = this._initialPosition();
    this._cachedBlocks = new Map(); // viewer -> positions before each block
    this._cached = null;
    this.add(rows);
  }

  /**
   * Add rows, ignoring those that are already known. Those of a log have many events or none; public ones, in a live
   * match, are {number, event}.
   */
  add(rows) {
    for (const row of this.live ? rows.map(({ number, event }) => ({ row: number, events: [event] })) : rows) {
      const number = row.row;
      if (this.rows.has(number)) continue;
      this.rows.set(number, row);
      if (row.type === "header" || row.type === "result" || row.type === "reveal") continue;
      const events = row.events?.length ? row.events : row.type === "decision" ? [null] : [];
      events.forEach((event, place) => this._addMoment({ row: number, event, first: place === 0 }));
      if (row.type === "decision" && events.length) this.decisions.push(this.moments.length - events.length);
    }
    this._cachedBlocks.clear();
    this._cached = null;
  }

  get last() {
    return this.moments.length - 1;
  }

  /** Return the log row of a moment. */
  rowAt(at) {
    return this.rows.get(this.moments[at]?.row);
  }

  /** Return the result row, or null before the end of the match. */
  get result() {
    return [...this.rows.values()].find((row) => row.type === "result") ?? null;
  }

  roundAt(at) {
    return this.moments[at]?.round ?? 0;
  }

  /** Return the first moment of a round and the first moment after it. */
  bounds(round) {
    return [this.rounds[round].start, this.rounds[round + 1]?.start ?? this.moments.length];
  }

  /** Return the first moment of row `number`, or -1 if it has none. */
  momentOfRow(number) {
    return this.moments.findIndex((moment) => moment.row === number);
  }

  /** Return the first moment of decision point `n`, or -1 if it has none. */
  momentOfDecision(n) {
    return this.decisions.find((at) => this.rowAt(at).n === n) ?? -1;
  }

  /** Return the position after a moment in the view of `viewer`. */
  positionAt(at, viewer) {
    const cached = this._cached;
    if (cached?.at === at && cached.viewer === viewer) return cached.position;
    let position;
    if (!this._masks(viewer) && cached?.viewer === viewer && cached.at === at - 1) {
      position = this._applyEvent(cached.position, this.moments[at].event);
    } else {
      const starts = this._starts(viewer);
      const block = lastAtMost(starts, at);
      position = this._applyAll(this._positionBefore(viewer, block), this._visibleBetween(starts[block], at + 1, viewer));
      if (!this.eventAt(at, viewer)) position = this._applyEvent(position, null);
    }
    this._cached = { at, viewer, position };
    return position;
  }

  /** Return the event of a moment in the view of `viewer`, or null if it is hidden. */
  eventAt(at, viewer) {
    const { event, round } = this.moments[at];
    if (!event || !this._masks(viewer)) return event;
    if (!this._visible([event], viewer).length) return null;
    return this._visibleBetween(this.rounds[round].start, at + 1, viewer).at(-1) ?? null;
  }

  /** Return the events of moments from `start` to before `end`, within one round, in the view of `viewer`. */
  eventsBetween(start, end, viewer) {
    if (!this._masks(viewer)) return this.moments.slice(start, end).map((moment) => moment.event);
    const first = this.rounds[this.roundAt(start)].start;
    const seen = this._visibleBetween(first, end, viewer);
    const events = [];
    let next = 0;
    for (let at = first; at < end; at++) {
      const { event } = this.moments[at];
      const visible = event && this._visible([event], viewer).length ? (seen[next++] ?? null) : null;
      if (at >= start) events.push(visible);
    }
    return events;
  }

  /** Return an event as a sentence, or null if it needs none. */
  describe(event) {
    const name = (seat) => this.nameOf(seat);
    return this._attempt(() => this.table.describe(event, name), null);
  }

  /** Return the name of a player, followed by the seat if the name is not unique, or the seat if there is no name. */
  nameOf(seat) {
    const name = this.header.players[seat]?.name;
    if (!name) return capitalized(seatWords(seat));
    const twins = this.header.players.filter((player) => player.name === name).length > 1;
    return twins ? `${name} (${seatWords(seat)})` : name;
  }

  _addMoment(moment) {
    const at = this.moments.length;
    const title = moment.event ? this._attempt(() => this.table.roundTitle(moment.event), null) : null;
    if (title) {
      if (at === this.rounds.at(-1).start) this.rounds.pop();
      this.rounds.push({ title: String(title), start: at });
    }
    this.moments.push({ ...moment, round: this.rounds.length - 1 });
    this._position = this._applyEvent(this._position, moment.event);
    this._measure(at);
  }

  /** Record changes of scores, the maximum numbers of cards at a seat, and the different middles, so that the layout does not jump. */
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
      if (seat.played) shape.played = 1;
    }
    shape.aloud ||= Array.isArray(this._position.said) && this._position.said.some((remark) => remark?.seat === null);
    const centre = this._position.centre ?? [];
    shape.board ||= centre.some((item) => item?.kind === "board");
    const key = centre.map((item) => `${item?.kind} ${item?.cards?.length ?? ""} ${[item?.name, item?.text, item?.chips].join().length}`).join();
    if (shape.centres.size < MOST_CENTRES) shape.centres.set(key, centre);
  }

  _masks(viewer) {
    return viewer !== OPEN && !this.live;
  }

  /** Return the moments before which positions are cached. In masked views, an event may reveal earlier ones of its round. */
  _starts(viewer) {
    if (this._masks(viewer)) return this.rounds.map((round) => round.start);
    return Array.from({ length: Math.ceil(this.moments.length / BLOCK) }, (_, block) => block * BLOCK);
  }

  _positionBefore(viewer, block) {
    const starts = this._starts(viewer);
    const kept = this._cachedBlocks.get(viewer) ?? [this._initialPosition()];
    this._cachedBlocks.set(viewer, kept);
    while (kept.length <= block) {
      const before = kept.length - 1;
      kept.push(this._applyAll(kept[before], this._visibleBetween(starts[before], starts[before + 1], viewer)));
    }
    return kept[block];
  }

  _visibleBetween(start, end, viewer) {
    const events = this.moments.slice(start, end).map((moment) => moment.event).filter(Boolean);
    return this._masks(viewer) ? this._visible(events, viewer) : events;
  }

  _visible(events, viewer) {
    return this._attempt(() => this.table.visibleEvents(events, viewer, this.header.options), []);
  }

  _initialPosition() {
    return this._attempt(() => this.table.begin(this.header), emptyPosition(this.header.seats));
  }

  _applyAll(position, events) {
    return events.reduce((before, event) => this._applyEvent(before, event), position);
  }

  _applyEvent(position, event) {
    if (!event) return { ...position, moved: [], said: [] };
    return this._attempt(() => this.table.apply(position, event), position);
  }

  /** Return the result of `work`, or `otherwise` if it throws, because a log may contain events that no game emits. */
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
