// The viewer: a table, controls, and what stands beside them, for one match that is over or goes on.

import { Controls, KEYS, pressed } from "./controls.js";
import { DecisionPanel } from "./decision.js";
import { make, say, text } from "./dom.js";
import { Graph } from "./graph.js";
import { Happenings, sentenceAt } from "./event_list.js";
import { Checks, resultPanel } from "./outcome.js";
import { OPEN, Replay } from "./replay.js";
import { TableView } from "./table.js";
import { tableFor } from "./tables.js";

const FEW = 3; // events that came together and are shown at once; more are played
const LIVE_PACE = 4;

/**
 * Shows a match in `root` and gives the viewer. `source`: {header, rows, lines (raw, null while live), live, faults,
 * question(row), noQuestion, verification(), linkOf(row), botAddress(player)}; all but the first two may be missing.
 */
export function mount(root, source) {
  return new Viewer(root, source);
}

class Viewer {
  constructor(root, source) {
    this.root = root;
    this.source = { linkOf: linkHere, noQuestion: "What was asked is not in this log.", ...source };
    this.at = 0;
    this.viewer = source.live ? null : OPEN;
    this._keysOff = false;
    this._ends = new AbortController();
    document.addEventListener("keydown", (event) => this._key(event), this._ends);
    addEventListener("hashchange", () => this.follow(location.hash), this._ends);
    this._sizes = new ResizeObserver(() => this._resized());
    this._sizes.observe(root);
    this._assemble(source);
    if (source.live) this.controls.jump(this.replay.last);
    else if (!this.follow(location.hash)) this.goTo(this.replay.decisions[0] ?? 0);
  }

  /**
   * Takes rows that have come. A reader who follows the match is shown a few at once and many one after the other; what they
   * `missed` before they came is not played.
   */
  add(rows, { missed = false } = {}) {
    const { last } = this.replay;
    const caughtUp = this.at >= last;
    this.replay.add(rows);
    this.graph.redraw();
    const fresh = this.replay.last - last;
    if (!fresh) return;
    if (this.controls.playing && caughtUp && (missed || fresh <= FEW)) this.goTo(this.replay.last);
    else if (last < 0) this.goTo(0);
    else this.controls.show(this.at, "");
  }

  /**
   * The match is over and its log is there: goes on from the same moment, everything open. A reader who followed the match
   * sees it played to its last event. The promise is kept when nothing is played any more.
   */
  async finish(source) {
    const { controls } = this;
    const following = controls.playing;
    const seen = this._seen();
    this.source = { ...this.source, ...source, live: false };
    controls.pause();
    this.viewer = OPEN;
    this._assemble(this.source, { pace: Number(controls.pace.value), keepUp: following && controls.keepUp });
    this.goTo(this._momentOf(seen));
    if (following) await this.controls.play();
  }

  /** Stops listening and playing; another match is shown instead. */
  dispose() {
    this.controls.pause();
    this._ends.abort();
    this._sizes.disconnect();
  }

  /** Says beside the live mark what is held back. */
  sayLive(words) {
    say(this.liveWords, words);
  }

  goTo(wanted) {
    const { replay } = this;
    this.at = Math.min(Math.max(0, wanted), Math.max(0, replay.last));
    if (replay.last < 0) return this._waiting();
    const position = replay.positionAt(this.at, this.viewer);
    const sentence = sentenceAt(replay, this.at, replay.eventAt(this.at, this.viewer)) ?? "";
    say(this.title, text(position.title || replay.rounds[replay.roundAt(this.at)].title));
    say(this.phase, text(position.phase ?? ""));
    this.told.setAttribute("aria-live", this.controls.playing && this.at < replay.last ? "off" : "polite");
    say(this.told, sentence);
    this._drawn(position);
    this.controls.show(this.at, sentence);
    this.happenings.show(this.at, this.viewer);
    this.decision.show(this.at, this.viewer);
    this.graph.show(this.at);
    this.root.dataset.at = String(this.at);
  }

  /** Goes where a link points: `#d17` is decision 17, `#row-17` a row. Tells whether it pointed anywhere. */
  follow(hash) {
    const found = /^#(d|row-)(\d{1,7})$/.exec(hash);
    if (!found) return false;
    const number = Number(found[2]);
    const at = found[1] === "d" ? this.replay.momentOfDecision(number) : this.replay.momentOfRow(number);
    if (at < 0) return false;
    if (!this.replay.live) this._look(OPEN);
    this.controls.jump(at);
    return true;
  }

  /** Where the reader is, by row: the log may tell more events of one than were told live. */
  _seen() {
    const { replay, at } = this;
    const row = replay.moments[at]?.row;
    return { row, place: at - replay.momentOfRow(row), whole: replay.moments[at + 1]?.row !== row };
  }

  _momentOf({ row, place, whole }) {
    const { moments } = this.replay;
    const first = Math.max(0, this.replay.momentOfRow(row));
    const last = Math.max(first, moments.findLastIndex((moment) => moment.row === row));
    return whole ? last : Math.min(first + place, last);
  }

  _assemble({ header, rows, lines, live }, pacing = live ? { pace: LIVE_PACE, keepUp: true } : {}) {
    this.replay = new Replay(header, tableFor(header.game), rows, { live });
    const jump = (at) => this.controls.jump(at);
    this.table = new TableView(this.replay);
    this.controls = new Controls(this.replay, { goTo: (at) => this.goTo(at), at: () => this.at, ...pacing });
    this.decision = new DecisionPanel(this.replay, this.source);
    this.happenings = new Happenings(this.replay, { goTo: jump });
    this.graph = new Graph(this.replay, { goTo: jump });
    this.checks = new Checks();
    this.told = make("p", { class: "told", "aria-live": "polite" });
    this.controls.element.prepend(this.told);
    this.root.classList.add("viewer");
    this.root.replaceChildren(
      make("div", { class: "stage" }, this._head(live), this.table.element, this.controls.element),
      make("div", { class: "beside" }, this.decision.element, this.happenings.element),
      make("div", { class: "below" }, resultPanel(this.replay, this.source.botAddress), this.graph.element, this.checks.element), this._help());
    this.graph.redraw();
    if (!live && lines) this.checks.run(lines, rows, this.source.verification);
  }

  _head(live) {
    this.title = make("b", {});
    this.phase = make("span", { class: "phase" });
    this.liveWords = make("span", { class: "quiet" });
    this.looks = make("select", { change: () => this._look(this._looked()) });
    const seats = this.replay.header.players.map((_, seat) => [`seat ${seat}`, `from seat ${seat}, ${text(this.replay.nameOf(seat))}`]);
    for (const [value, words] of [[OPEN, "everything open"], ["public", "as the public saw it"], ...seats]) {
      this.looks.append(make("option", { value }, words));
    }
    return make("div", { class: "head" }, make("p", { class: "where" }, this.title, this.phase),
      make("button", { type: "button", class: "small help", "aria-label": "Help: keys", title: "Keys (?)", click: () => this.help.showModal() }, "?"),
      live ? make("span", { class: "live-mark" }, make("span", { class: "dot" }), "Live ", this.liveWords) : this.checks.badge,
      this.controls.choices,
      live ? null : make("label", { class: "look" }, make("span", { class: "unseen" }, "View "), this.looks));
  }

  _looked() {
    const { value } = this.looks;
    if (value === OPEN) return OPEN;
    return value === "public" ? null : Number(value.slice(5));
  }

  _look(viewer) {
    this.viewer = viewer;
    this.looks.value = viewer === OPEN ? OPEN : viewer === null ? "public" : `seat ${viewer}`;
    this.table.place(Number.isInteger(viewer) ? viewer : 0);
    this.goTo(this.at);
  }

  /** A log may hold what cannot be drawn; then the events still can be read. */
  _drawn(position) {
    try {
      this.table.show(position);
    } catch {
      say(this.phase, "this moment cannot be drawn");
    }
  }

  _waiting() {
    say(this.title, "Nothing has happened yet");
    say(this.told, "The first events are shown here as soon as they may be seen.");
    this._drawn(this.replay.table.begin(this.replay.header));
    this.controls.show(0, "");
    this.decision.show(0, this.viewer);
  }

  _help() {
    const keys = KEYS.map(([, sign, words]) => [make("dt", {}, make("kbd", {}, sign)), make("dd", {}, words)]).flat();
    const single = make("input", { type: "checkbox", checked: !this._keysOff, change: () => (this._keysOff = !single.checked) });
    this.help = make("dialog", { class: "keys", "aria-label": "Keys" }, make("h2", {}, "Keys"),
      make("dl", { class: "facts" }, keys, make("dt", {}, make("kbd", {}, "?")), make("dd", {}, "this help")),
      make("p", {}, make("label", { class: "look" }, single, " Letters and signs work as keys")),
      make("p", {}, "A click on the graph or on an event goes there. A link that ends in ", make("code", {}, "#d17"), " opens decision 17."),
      make("form", { method: "dialog" }, make("button", {}, "Close")));
    return this.help;
  }

  _key(event) {
    const within = event.target === document.body || this.root.contains(event.target);
    const letter = ["n", "p", "[", "]", "?"].includes(event.key);
    if (!within || (letter && this._keysOff) || this.replay.last < 0) return;
    if (event.key === "?" && !event.target.closest?.("input, select, textarea, dialog")) {
      this.help.showModal();
      event.preventDefault();
    } else if (pressed(this.controls, event)) {
      event.preventDefault();
    }
  }

  _resized() {
    const width = this.root.clientWidth;
    if (width === this._width) return;
    this._width = width;
    this.table.settle();
    this.graph.redraw();
  }
}

function linkHere(row) {
  return `${location.href.split("#")[0]}#d${row.n}`;
}
