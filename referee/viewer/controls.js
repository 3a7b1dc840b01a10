// Provide the controls that step through a match: buttons, scrub bar, rounds, pace and keys.

import { make, setText } from "./dom.js";
import { signButton, signOf } from "./icons.js";

const PACES = [0.5, 1, 2, 4, 10];
const EVENT_MS = 900; // time per event at pace 1
const MOST_BEHIND_MS = 10_000; // events are played faster for a reader who is further behind the live match
const HURRIED_MS = 40; // shortest time between two events

/**
 * Show the control bar and the choices of round and pace. `goTo(at)` is called with the selected moment, and `visit(at)`
 * with a selected round's; `at()` returns the current one; `began()` is called with each
 * step of playing. With `keepUp`, play faster than `pace` if much is left, until the reader chooses a pace.
 */
export class Controls {
  constructor(replay, { goTo, visit, at, began, pace = 1, keepUp = false }) {
    this.replay = replay;
    this.playing = false;
    this.keepUp = keepUp;
    this._goTo = goTo;
    this._visit = visit;
    this._at = at;
    this._began = began;
    this._timer = 0;
    this._frame = 0;
    this._resolveStopped = () => {};
    this.highlights = [];
    this._build(pace);
  }

  /** Mark highlights ({at, kind}) on the bar. */
  mark(highlights) {
    this.highlights = highlights.map(({ at }) => at);
    this.marks.replaceChildren(...highlights.map(({ at, kind }) => {
      const mark = make("i", { class: kind });
      mark.style.setProperty("--part", (at / Math.max(1, this.replay.last)).toFixed(4));
      return mark;
    }));
  }

  /** Go to the next highlight, or to the first after the last. */
  highlight() {
    const next = this.highlights.find((at) => at > this._at()) ?? this.highlights[0];
    if (next !== undefined) this._visit(next);
  }

  /** The time until the next step, in ms. */
  get stepMs() {
    return this.playing ? this._stepMs() : EVENT_MS;
  }

  /** Show the moment `at` as the current one. */
  show(at, sentence) {
    const { replay } = this;
    this.scrub.max = String(Math.max(0, replay.last));
    this.scrub.value = String(at);
    this.scrub.setAttribute("aria-valuetext", `event ${at + 1} of ${replay.last + 1}: ${sentence}`);
    setText(this.count, `${at + 1} / ${replay.last + 1}`);
    this._fillRounds();
    this.round.value = String(replay.roundAt(at));
    for (const [button, off] of this._ends) button.disabled = off === "start" ? at <= 0 : at >= replay.last;
    this._scheduleStep();
  }

  event(steps) {
    this.jump(this._at() + steps);
  }

  decision(direction) {
    const { decisions, last } = this.replay;
    const at = this._at();
    const next = direction > 0 ? decisions.find((decision) => decision > at) : decisions.findLast((decision) => decision < at);
    this.jump(next ?? (direction > 0 ? last : 0));
  }

  jumpRound(direction) {
    const round = this.replay.roundAt(this._at());
    const start = this.replay.rounds[round].start;
    if (direction < 0 && this._at() > start) this.jump(start);
    else this.jump(this.replay.rounds[Math.max(0, round + direction)]?.start ?? this.replay.last);
  }

  end(which) {
    this.jump(which === "first" ? 0 : this.replay.last);
  }

  /** Go to a moment and stop there, or follow new events if it is the newest moment of a live match. */
  jump(wanted) {
    this.pause();
    this._goTo(wanted);
    if (this.replay.live && this._at() >= this.replay.last) this.play();
  }

  toggle() {
    if (this.playing) return this.pause();
    if (this._at() >= this.replay.last && !this.replay.live) this._goTo(0);
    this.play();
  }

  /** Play to the last event and, in a live match, follow new events. The promise resolves when playing stops. */
  play() {
    return new Promise((stopped) => {
      this._resolveStopped = stopped;
      this.playing = true;
      this._setPlayButton("pause", "Pause");
      this._scheduleStep();
    });
  }

  pause() {
    clearTimeout(this._timer);
    this._timer = 0;
    this.playing = false;
    if (!this.replay.live) this.keepUp = false;
    this._setPlayButton("play", "Play");
    this._resolveStopped();
  }

  /** Schedule the next step, or stop at the end of a finished match. */
  _scheduleStep() {
    if (!this.playing || this._timer) return;
    if (this._at() < this.replay.last) this._timer = setTimeout(() => this._step(), this._stepMs());
    else if (!this.replay.live) this.pause();
  }

  _step() {
    this._timer = 0;
    this._began();
    this._goTo(this._at() + 1);
  }

  _stepMs() {
    const chosen = EVENT_MS / Number(this.pace.value);
    if (!this.keepUp) return chosen;
    return Math.max(HURRIED_MS, Math.min(chosen, MOST_BEHIND_MS / (this.replay.last - this._at())));
  }

  _setPlayButton(sign, label) {
    if (this._play.dataset.sign === sign) return;
    this._play.dataset.sign = sign;
    this._play.replaceChildren(signOf(sign));
    this._play.setAttribute("aria-label", label);
    this._play.title = `${label} (space)`;
  }

  _build(pace) {
    const first = signButton("first", "First event (Home)", () => this.end("first"));
    const decisionBack = signButton("decision-back", "Previous decision (p)", () => this.decision(-1));
    const back = signButton("back", "Previous event (left arrow)", () => this.event(-1));
    this._play = signButton("play", "Play", () => this.toggle());
    this._play.classList.add("play");
    this._play.id = "play"; // the target of a link at the top of the page of a match
    const forward = signButton("forward", "Next event (right arrow)", () => this.event(1));
    const decisionForward = signButton("decision-forward", "Next decision (n)", () => this.decision(1));
    const last = signButton("last", "Last event (End)", () => this.end("last"));
    this._ends = [[first, "start"], [decisionBack, "start"], [back, "start"], [forward, "end"], [decisionForward, "end"], [last, "end"]];
    this.count = make("span", { class: "step" });
    this.scrub = make("input", { type: "range", class: "scrub", min: 0, max: 0, step: 1, value: 0, "aria-label": "Moment of the match",
      input: () => this._onScrub() });
    this.marks = make("div", { class: "marks-along", "aria-hidden": "true" });
    this.round = make("select", { "aria-label": "Round", change: () => this._onRoundChange() });
    this.pace = make("select", { "aria-label": "Pace", change: () => (this.keepUp = false) },
      PACES.map((factor) => make("option", { value: factor, selected: factor === pace }, `${factor} ×`)));
    this.element = make("div", { class: "controls", role: "group", "aria-label": "Stepping through the match" },
      make("div", { class: "buttons" }, first, decisionBack, back, this._play, forward, decisionForward, last),
      make("div", { class: "along" }, make("div", { class: "track" }, this.scrub, this.marks), this.count));
    this.choices = make("div", { class: "choices" }, this.round, this.pace);
  }

  /** Jump at most once per frame, because the bar moves faster than a table can be drawn. */
  _onScrub() {
    this.pause();
    this._frame ||= requestAnimationFrame(() => {
      this._frame = 0;
      this.jump(Number(this.scrub.value));
    });
  }

  _onRoundChange() {
    this._visit(this.replay.rounds[Number(this.round.value)].start);
  }

  _fillRounds() {
    const { rounds } = this.replay;
    for (let place = this.round.options.length; place < rounds.length; place++) {
      this.round.append(make("option", { value: place }, rounds[place].title));
    }
  }
}

/** The keys, each with its sign and description in the help, and its action. */
export const KEYS = [
  ["ArrowLeft", "←", "previous event", (controls) => controls.event(-1)],
  ["ArrowRight", "→", "next event", (controls) => controls.event(1)],
  ["p", "p", "previous decision", (controls) => controls.decision(-1)],
  ["n", "n", "next decision", (controls) => controls.decision(1)],
  ["[", "[", "previous round", (controls) => controls.jumpRound(-1)],
  ["]", "]", "next round", (controls) => controls.jumpRound(1)],
  ["f", "f", "next fault or turning point", (controls) => controls.highlight()],
  ["Home", "Home", "first event", (controls) => controls.end("first")],
  ["End", "End", "last event", (controls) => controls.end("last")],
  [" ", "Space", "play and pause", (controls) => controls.toggle()],
];

/** Run the action of the pressed key, and return whether it has one. */
export function handleKey(controls, event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.("input, select, textarea, dialog")) return false;
  if (event.key === " " && event.target.closest?.("button, a, summary")) return false;
  const found = KEYS.find(([key]) => key === event.key);
  found?.[3](controls);
  return Boolean(found);
}
