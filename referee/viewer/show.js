// Show a match as a table that plays by itself, without controls and panels, for pages with other content.

import { pictureOf } from "./cards.js";
import { Controls } from "./controls.js";
import { make, setText, text } from "./dom.js";
import { say, sentenceAt } from "./event_list.js";
import { OPEN, Replay } from "./replay.js";
import { TableView } from "./table.js";
import { tableFor } from "./tables.js";

const STILL = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Show a match in `root`: its table, the title of the round, and a sentence on the last event. `source` is {header, rows,
 * live, pace}. Start with `play()`. `ended()` is called each time the last event of a finished match is shown.
 */
export class Show {
  constructor(root, { header, rows, live = false, pace = 1, ended = () => {} }) {
    this.replay = new Replay(header, tableFor(header.game), rows, { live });
    this.at = 0;
    this.table = new TableView(this.replay);
    this.title = make("b", {});
    this.sentence = make("p", { class: "sentence" });
    this._ended = ended;
    this._viewer = live ? null : OPEN;
    this._controls = new Controls(this.replay, {
      goTo: (at) => this._goTo(at), visit: (at) => this._goTo(at), at: () => this.at, began: () => this._addFlights(), pace, keepUp: live });
    this._area = make("div", { class: "play-area show" }, make("p", { class: "where" }, this.title), this.table.element, this.sentence);
    root.replaceChildren(this._area);
    this.table.settle(); // before it is painted
    this._goTo(live || STILL.matches ? this.replay.last : this.replay.decisions[0] ?? 0);
  }

  get playing() {
    return this._controls.playing;
  }

  get last() {
    return this.replay.last;
  }

  /** Play from the current moment, or from the first one after the last. */
  play() {
    if (!this.playing) this._controls.toggle();
  }

  pause() {
    this._controls.pause();
  }

  /** Add new rows of a live match. */
  add(rows) {
    const isFirst = this.last < 0;
    this.replay.add(rows);
    this.table.settle();
    if (isFirst || STILL.matches) this._goTo(this.last);
    else this._controls.show(this.at, "");
  }

  /** Treat the rows added so far as the whole match. */
  close() {
    this.replay.live = false;
    if (this.at >= this.last) this._goTo(this.last);
  }

  _goTo(wanted) {
    const { replay } = this;
    const isStep = wanted - this.at === 1;
    this.at = Math.min(Math.max(0, wanted), Math.max(0, replay.last));
    if (replay.last < 0) return this.table.show(replay.table.begin(replay.header));
    const position = replay.positionAt(this.at, this._viewer);
    setText(this.title, text(position.title || replay.rounds[replay.roundAt(this.at)].title));
    say(this.sentence, sentenceAt(replay, this.at, replay.eventAt(this.at, this._viewer)) ?? "");
    this._flights?.begin(isStep ? this._drawn : null);
    this.table.show(position);
    this._flights?.end(position, this._controls.stepMs);
    this._drawn = position;
    this._controls.show(this.at, "");
    if (!replay.live && this.at >= replay.last) this._ended();
  }

  async _addFlights() {
    if (this._flights || STILL.matches) return;
    const { Flights } = await import("./flights.js");
    this._flights ??= new Flights(this.table.element, pictureOf);
    this._area.append(this._flights.layer);
  }
}
