// Stepping through a match: buttons, scrub bar, rounds, pace, keys. What is shown for a moment is others' work.

import { make, say } from "./dom.js";
import { signButton, signOf } from "./icons.js";

const PACES = [0.5, 1, 2, 4, 10];
const EVENT_MS = 900; // at pace 1
const MOST_BEHIND_MS = 10_000; // who is further behind what has been told is hurried
const HURRIED_MS = 40; // between two events, at least

/**
 * The bar of controls, and the choices of round and pace. `goTo(at)` is called with the moment wanted; `at()` tells the one
 * shown. `keepUp` plays faster than `pace` where too much is left, until the reader chooses a pace.
 */
export class Controls {
  constructor(replay, { goTo, at, pace = 1, keepUp = false }) {
    this.replay = replay;
    this.playing = false;
    this.keepUp = keepUp;
    this._goTo = goTo;
    this._at = at;
    this._timer = 0;
    this._frame = 0;
    this._stopped = () => {};
    this._build(pace);
  }

  /** Shows where the reader is. */
  show(at, sentence) {
    const { replay } = this;
    this.scrub.max = String(Math.max(0, replay.last));
    this.scrub.value = String(at);
    this.scrub.setAttribute("aria-valuetext", `event ${at + 1} of ${replay.last + 1}: ${sentence}`);
    say(this.count, `${at + 1} / ${replay.last + 1}`);
    this._fillRounds();
    this.round.value = String(replay.roundAt(at));
    for (const [button, off] of this._ends) button.disabled = off === "start" ? at <= 0 : at >= replay.last;
    this._goOn();
  }

  event(steps) {
    this.jump(this._at() + steps);
  }

  decision(direction) {
    const { decisions, last } = this.replay;
    const at = this._at();
    const next = direction > 0 ? decisions.find((one) => one > at) : decisions.findLast((one) => one < at);
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

  /** Go to a moment and stay there; at the newest event of a live match, follow what comes. */
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

  /** Play from here through the last event; of a live match, on to each that comes. The promise is kept when it stops. */
  play() {
    return new Promise((stopped) => {
      this._stopped = stopped;
      this.playing = true;
      this._dress("pause", "Pause");
      this._goOn();
    });
  }

  pause() {
    clearTimeout(this._timer);
    this._timer = 0;
    this.playing = false;
    if (!this.replay.live) this.keepUp = false;
    this._dress("play", "Play");
    this._stopped();
  }

  /** Plan the next step; at the end of a match that is over, stop. */
  _goOn() {
    if (!this.playing || this._timer) return;
    if (this._at() < this.replay.last) this._timer = setTimeout(() => this._step(), this._stepMs());
    else if (!this.replay.live) this.pause();
  }

  _step() {
    this._timer = 0;
    this._goTo(this._at() + 1);
  }

  _stepMs() {
    const chosen = EVENT_MS / Number(this.pace.value);
    if (!this.keepUp) return chosen;
    return Math.max(HURRIED_MS, Math.min(chosen, MOST_BEHIND_MS / (this.replay.last - this._at())));
  }

  _dress(sign, label) {
    if (this._play.dataset.sign === sign) return;
    this._play.dataset.sign = sign;
    this._play.replaceChildren(signOf(sign));
    this._play.setAttribute("aria-label", label);
    this._play.title = `${label} (space)`;
  }

  _build(pace) {
    const first = signButton("first", "First event (Home)", () => this.end("first"));
    const decisionBack = signButton("decision-back", "Decision before (p)", () => this.decision(-1));
    const back = signButton("back", "Event before (left arrow)", () => this.event(-1));
    this._play = signButton("play", "Play", () => this.toggle());
    this._play.classList.add("play");
    const forward = signButton("forward", "Next event (right arrow)", () => this.event(1));
    const decisionForward = signButton("decision-forward", "Next decision (n)", () => this.decision(1));
    const last = signButton("last", "Last event (End)", () => this.end("last"));
    this._ends = [[first, "start"], [decisionBack, "start"], [back, "start"], [forward, "end"], [decisionForward, "end"], [last, "end"]];
    this.count = make("span", { class: "step" });
    this.scrub = make("input", { type: "range", class: "scrub", min: 0, max: 0, step: 1, value: 0, "aria-label": "Moment of the match",
      input: () => this._scrubbed() });
    this.round = make("select", { "aria-label": "Round", change: () => this._rounded() });
    this.pace = make("select", { "aria-label": "Pace", change: () => (this.keepUp = false) },
      PACES.map((one) => make("option", { value: one, selected: one === pace }, `${one} ×`)));
    this.element = make("div", { class: "controls", role: "group", "aria-label": "Stepping through the match" },
      make("div", { class: "along" }, this.scrub, this.count),
      make("div", { class: "buttons" }, first, decisionBack, back, this._play, forward, decisionForward, last));
    this.choices = make("div", { class: "choices" }, this.round, this.pace);
  }

  /** At most once a frame: the bar moves faster than a table can be drawn. */
  _scrubbed() {
    this.pause();
    this._frame ||= requestAnimationFrame(() => {
      this._frame = 0;
      this.jump(Number(this.scrub.value));
    });
  }

  _rounded() {
    this.jump(this.replay.rounds[Number(this.round.value)].start);
  }

  _fillRounds() {
    const { rounds } = this.replay;
    for (let place = this.round.options.length; place < rounds.length; place++) {
      this.round.append(make("option", { value: place }, rounds[place].title));
    }
  }
}

/** What each key does, for the help and for `pressed`. */
export const KEYS = [
  ["ArrowLeft", "←", "event before", (controls) => controls.event(-1)],
  ["ArrowRight", "→", "next event", (controls) => controls.event(1)],
  ["p", "p", "decision before", (controls) => controls.decision(-1)],
  ["n", "n", "next decision", (controls) => controls.decision(1)],
  ["[", "[", "round before", (controls) => controls.jumpRound(-1)],
  ["]", "]", "next round", (controls) => controls.jumpRound(1)],
  ["Home", "Home", "first event", (controls) => controls.end("first")],
  ["End", "End", "last event", (controls) => controls.end("last")],
  [" ", "Space", "play and pause", (controls) => controls.toggle()],
];

/** Does what a key stands for; tells whether it stands for something. */
export function pressed(controls, event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.("input, select, textarea, dialog")) return false;
  if (event.key === " " && event.target.closest?.("button, a, summary")) return false;
  const found = KEYS.find(([key]) => key === event.key);
  found?.[3](controls);
  return Boolean(found);
}
