// Show one match, finished or live, with its table, the controls and the panels.

import { Address, momentOf } from "./address.js";
import { pictureOf } from "./cards.js";
import { Controls, KEYS, handleKey } from "./controls.js";
import { DecisionPanel } from "./decision.js";
import { make, setText, text } from "./dom.js";
import { EventList, say, sentenceAt } from "./event_list.js";
import { Graph } from "./graph.js";
import { highlightsOf } from "./highlights.js";
import { Checks } from "./outcome.js";
import { fetchPart } from "./parts.js";
import { OPEN, Replay } from "./replay.js";
import { followSwipes, moreButton } from "./sheet.js";
import { TableView } from "./table.js";
import { tableFor } from "./tables.js";
import { seatWords } from "./words.js";

const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const FLIGHTS_MS = 1_500; // after the first step
const FEW = 3; // maximum number of new events shown immediately; more are played one by one
const LIVE_PACE = 4;
const MOST_ABOVE = 0.4; // part of the window; below more than that, the viewer takes a whole window, to which one scrolls
const BELOW_PX = 8; // free below the viewer

/**
 * Show a match in `root` and return the viewer. `source` is {header, rows, lines (raw, null while live), signature, live, faults,
 * question(row), noQuestion, verification(), linkOf(row), botAddress(player), addressed, showsResult, next(), link}. Only `header` and
 * `rows` are required. Unless `showsResult` is false, a panel has the result. Unless `addressed` is false, the address of the page names the moment shown. `next()` and `link`
 * are those of `Ending`. A match whose moment is not named by the address plays by itself, unless the reader prefers
 * that nothing moves.
 */
export function mount(root, source) {
  return new Viewer(root, source);
}

class Viewer {
  constructor(root, source) {
    this.root = root;
    this.source = { linkOf: linkHere, addressed: true, showsResult: true, noQuestion: "This log does not contain the questions.", ...source };
    this.at = 0;
    this.viewer = source.live ? null : OPEN;
    this._keysDisabled = false;
    this._ends = new AbortController();
    document.addEventListener("keydown", (event) => this._key(event), this._ends);
    addEventListener("hashchange", ({ newURL }) => this.follow(new URL(newURL).hash), this._ends);
    this.address = new Address();
    this._sizes = new ResizeObserver(() => this._resized());
    this._sizes.observe(root);
    this._sizes.observe(document.body); // what is above the viewer may become higher
    addEventListener("resize", () => this._resized(), this._ends);
    this._assemble(source);
    this._resized(); // before the first picture, so that nothing moves after it
    if (source.live) this.controls.jump(this.replay.last);
    else if (!this.follow(location.hash)) this._begin();
  }

  /**
   * Add new rows. For a reader who follows the match, show a few rows immediately but play many one by one. Rows `missed`
   * while disconnected are not played.
   */
  add(rows, { missed = false } = {}) {
    const { last } = this.replay;
    const caughtUp = this.at >= last;
    this.replay.add(rows);
    this.graph.redraw();
    this.table.settle();
    const fresh = this.replay.last - last;
    if (!fresh) return;
    if (this.controls.playing && caughtUp && (missed || fresh <= FEW)) this.goTo(this.replay.last);
    else if (last < 0) this.goTo(0);
    else this.controls.show(this.at, "");
  }

  /**
   * Continue from the same moment with the complete log and everything open. For a reader who followed the match, play
   * to the last event. The promise resolves when playing stops.
   */
  async finish(source) {
    const { controls } = this;
    const following = controls.playing;
    const seen = this.replay.moments.slice(0, this.at + 1);
    this.source = { ...this.source, ...source, live: false };
    controls.pause();
    this.viewer = OPEN;
    this._assemble(this.source, { pace: Number(controls.pace.value), keepUp: following && controls.keepUp });
    this.goTo(this._lastOf(seen));
    if (following) await this.controls.play();
  }

  /** Stop playing and remove all listeners. */
  dispose() {
    this.controls.pause();
    this._ends.abort();
    this._sizes.disconnect();
  }

  /** Show a note next to the live mark, about content that is not public yet. */
  showLiveNote(words) {
    setText(this.liveWords, words);
  }

  goTo(wanted) {
    const { replay } = this;
    const steps = wanted - this.at;
    const { playing } = this.controls; // it stops at the last event
    this.at = Math.min(Math.max(0, wanted), Math.max(0, replay.last));
    if (replay.last < 0) return this._showWaiting();
    const position = replay.positionAt(this.at, this.viewer);
    const sentence = sentenceAt(replay, this.at, replay.eventAt(this.at, this.viewer)) ?? "";
    setText(this.title, text(position.title || replay.rounds[replay.roundAt(this.at)].title));
    setText(this.phase, text(position.phase ?? ""));
    this.sentence.setAttribute("aria-live", this.controls.playing && this.at < replay.last ? "off" : "polite");
    say(this.sentence, sentence);
    this._drawTable(position, { moves: steps === 1 });
    this.controls.show(this.at, sentence);
    this._showEnding(playing).catch(() => {}); // without it, the result is below
    this.eventList.show(this.at, this.viewer);
    this.decision.show(this.at, this.viewer);
    this.graph.show(this.at);
    this.root.dataset.at = String(this.at);
    if (this.source.addressed && !replay.live) this.address.step(this.at);
  }

  /** Follow a link to an event (`#e75`), a decision (`#d17`) or a row (`#row-17`). Return whether its target exists. */
  follow(hash) {
    const at = momentOf(this.replay, hash);
    if (at < 0) return false;
    this.address.names(at);
    if (!this.replay.live && !hash.startsWith("#e")) this._look(OPEN, at);
    this.controls.jump(at);
    return true;
  }

  /** Go to the first decision, without a change of the address. */
  _begin() {
    const at = this.replay.decisions[0] ?? 0;
    this.address.names(at);
    this.goTo(at);
    if (!STILL.matches) this._playWhenSeen();
  }

  /** Play when the page is visible, unless the reader has done something before. */
  _playWhenSeen() {
    const { at, controls } = this;
    const play = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", play);
      if (this.at === at && this.controls === controls && !controls.playing) controls.play();
    };
    document.addEventListener("visibilitychange", play, this._ends);
    play();
  }

  /** Show the result to a reader who has watched the last event, and hide it at any other moment. */
  async _showEnding(playing) {
    const { replay } = this;
    const isLast = () => replay === this.replay && !replay.live && this.at === replay.last;
    if (!isLast()) this._ending?.hide();
    else if (playing) {
      const Ending = await fetchPart("Ending");
      if (!isLast()) return;
      if (this._ending?.replay !== replay) {
        this._ending?.element.remove();
        this._ending = new Ending(replay, { ...this.source, goTo: (at) => this._visit(at), again: () => this._playAgain() });
        this.playArea.append(this._ending.element);
      }
      this._ending.show();
    }
  }

  /** Fetch what moves the cards when the page has had time to load what it needs first. */
  _planFlights() {
    this._flightsTimer ??= setTimeout(() => {
      this._flightsTimer = null;
      this._addFlights().catch(() => {}); // without it, cards are at their places immediately
    }, FLIGHTS_MS);
  }

  /** Let cards and chips move from the next step on, unless the reader prefers that nothing moves. */
  async _addFlights() {
    if (STILL.matches || this._flights?.felt === this.table.element) return;
    const { table, playArea } = this;
    const Flights = await fetchPart("Flights");
    if (this._flights?.felt === this.table.element || table !== this.table) return;
    this._flights = new Flights(table.element, pictureOf);
    playArea.append(this._flights.layer);
  }

  /** Play from the first event. */
  _playAgain() {
    this.controls.jump(0);
    this.controls.play();
  }

  /** Jump to a moment from which Back returns. */
  _visit(at) {
    if (this.source.addressed && !this.replay.live) this.address.jump(this.at, at);
    this.controls.jump(at);
  }

  /** Return the moment of the log that shows the last of these live moments. Some kinds of events are only in the log. */
  _lastOf(seen) {
    const { moments } = this.replay;
    let at = -1;
    for (const { event } of seen) at = moments.findIndex((moment, place) => place > at && moment.event?.event === event.event);
    return Math.max(0, at);
  }

  _assemble({ header, rows, lines, live }, pacing = live ? { pace: LIVE_PACE, keepUp: true } : {}) {
    this.replay = new Replay(header, tableFor(header.game), rows, { live });
    const jump = (at) => this._visit(at);
    this.table = new TableView(this.replay);
    this.controls = new Controls(this.replay, { goTo: (at) => this.goTo(at), visit: jump, at: () => this.at, began: () => this._planFlights(), ...pacing });
    this.decision = new DecisionPanel(this.replay, this.source);
    this.eventList = new EventList(this.replay, { goTo: jump });
    this.graph = new Graph(this.replay, { goTo: jump });
    this.checks = new Checks();
    this.sentence = make("p", { class: "sentence", "aria-live": "polite" });
    followSwipes(this.table.element, (steps) => this.controls.event(steps));
    this.below = make("div", { class: "below" }, this.graph.element, this.checks.element);
    this.root.classList.add("viewer");
    this.playArea = make("div", { class: "play-area" }, this._head(live), this.table.element, this.sentence, this.controls.element);
    this.root.replaceChildren(
      this.playArea,
      make("div", { class: "beside" }, this.decision.element, this.eventList.element),
      this.below);
    if (this.replay.result && this.source.showsResult) this._addResult(this.replay).catch(() => {}); // without it, the log has the result
    this.table.settle(); // before it is painted
    this.graph.redraw();
    if (!live) this.controls.mark(highlightsOf(this.replay));
    if (!live && lines) this.checks.run(lines, rows, this.source.signature ?? null, this.source.verification);
  }

  async _addResult(replay) {
    const resultPanel = await fetchPart("resultPanel");
    if (replay === this.replay) this.below.prepend(resultPanel(replay, this.source.botAddress));
  }

  _head(live) {
    this.title = make("b", {});
    this.phase = make("span", { class: "phase" });
    this.liveWords = make("span", { class: "quiet" });
    this.looks = make("select", { change: () => this._look(this._selectedView()) });
    const seats = this.replay.header.players.map((_, seat) => [String(seat), `from ${seatWords(seat)}, ${text(this.replay.nameOf(seat))}`]);
    for (const [value, words] of [[OPEN, "everything open"], ["public", "as the public saw it"], ...seats]) {
      this.looks.append(make("option", { value }, words));
    }
    const options = make("div", { class: "options" }, this.controls.choices,
      live ? null : make("label", { class: "look" }, make("span", { class: "unseen" }, "View "), this.looks),
      make("button", { type: "button", class: "small help", "aria-label": "Help: keys", title: "Keys (?)", click: () => this._showHelp() }, "?"));
    return make("div", { class: "head" }, make("p", { class: "where" }, this.title, " ", this.phase),
      live ? make("span", { class: "live-mark" }, make("span", { class: "dot" }), "Live ", this.liveWords) : this.checks.badge,
      moreButton(options), options);
  }

  _selectedView() {
    const { value } = this.looks;
    if (value === OPEN) return OPEN;
    return value === "public" ? null : Number(value);
  }

  _look(viewer, at = this.at) {
    this.viewer = viewer;
    this.looks.value = viewer === OPEN ? OPEN : viewer === null ? "public" : String(viewer);
    this.table.place(Number.isInteger(viewer) ? viewer : 0);
    this.goTo(at);
  }

  /** Draw a position. If that fails, because a log may contain anything, its events can still be read. */
  _drawTable(position, { moves = false } = {}) {
    try {
      this._flights?.begin(moves && !STILL.matches ? this._drawn : null);
      this.table.show(position);
      this._flights?.end(position, this.controls.stepMs);
      this._drawn = position;
    } catch {
      setText(this.phase, "This moment cannot be drawn.");
    }
  }

  _showWaiting() {
    setText(this.title, "Nothing has happened yet");
    say(this.sentence, "The first events appear here as soon as they may be shown.");
    this._drawTable(this.replay.table.begin(this.replay.header));
    this.controls.show(0, "");
    this.decision.show(0, this.viewer);
  }

  async _showHelp() {
    this.help ??= (await fetchPart("helpDialog"))(KEYS, { enabled: () => !this._keysDisabled, enable: (on) => (this._keysDisabled = !on) });
    this.root.append(this.help);
    this.help.showModal();
  }

  _key(event) {
    const within = event.target === document.body || this.root.contains(event.target);
    const letter = ["n", "p", "f", "[", "]", "?"].includes(event.key);
    if (event.key === "Escape") this._ending?.hide();
    if (!within || (letter && this._keysDisabled) || this.replay.last < 0) return;
    if (event.key === "?" && !event.target.closest?.("input, select, textarea, dialog")) {
      this._showHelp();
      event.preventDefault();
    } else if (handleKey(this.controls, event)) {
      event.preventDefault();
    }
  }

  _resized() {
    const above = this.root.getBoundingClientRect().top + scrollY;
    this.root.style.setProperty("--above", `${Math.ceil(above < MOST_ABOVE * innerHeight ? above : 0) + BELOW_PX}px`);
    const { offsetWidth, offsetHeight } = this.table.element;
    const size = `${offsetWidth} ${offsetHeight}`;
    if (size === this._size) return;
    this._size = size;
    this.graph.redraw();
  }
}

function linkHere(row) {
  return `${location.href.split("#")[0]}#d${row.n}`;
}
