// Stepping through a match: buttons, scrub bar, rounds, pace, keys. What is shown for a moment is others' work.

import { make, say } from "./dom.js";
import { signButton, signOf } from "./icons.js";

const PACES = [0.5, 1, 2, 4, 10];
const EVENT_MS = 900; // at pace 1

/** The bar of controls, and the choices of round and pace. `goTo(at)` is called with the moment wanted; `at()` tells the one shown. */
export class Controls {
  constructor(replay, { goTo, at }) {
    this.replay = replay;
    this._goTo = goTo;
    this._at = at;
    this._timer = 0;
    this._frame = 0;
    this._build();
  }

  get playing() {
    return this._timer !== 0;
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
    if (this.playing && at >= replay.last && !replay.live) this.pause();
  }

  event(steps) {
    this.pause();
    this._goTo(this._at() + steps);
  }

  decision(direction) {
    this.pause();
    const { decisions, last } = this.replay;
    const at = this._at();
    const next = direction > 0 ? decisions.find((one) => one > at) : decisions.findLast((one) => one < at);
    this._goTo(next ?? (direction > 0 ? last : 0));
  }

  jumpRound(direction) {
    this.pause();
    const round = this.replay.roundAt(this._at());
    const start = this.replay.rounds[round].start;
    if (direction < 0 && this._at() > start) this._goTo(start);
    else this._goTo(this.replay.rounds[Math.max(0, round + direction)]?.start ?? this.replay.last);
  }

  end(which) {
    this.pause();
    this._goTo(which === "first" ? 0 : this.replay.last);
  }

  toggle() {
    if (this.playing) return this.pause();
    if (this._at() >= this.replay.last) this._goTo(0);
    this._dress("pause", "Pause");
    this._tick();
  }

  pause() {
    clearTimeout(this._timer);
    this._timer = 0;
    this._dress("play", "Play");
  }

  _tick() {
    this._timer = setTimeout(() => {
      if (this._at() < this.replay.last) this._goTo(this._at() + 1);
      if (this.playing) this._tick();
    }, EVENT_MS / Number(this.pace.value));
  }

  _dress(sign, label) {
    if (this._play.dataset.sign === sign) return;
    this._play.dataset.sign = sign;
    this._play.replaceChildren(signOf(sign));
    this._play.setAttribute("aria-label", label);
    this._play.title = `${label} (space)`;
  }

  _build() {
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
    this.pace = make("select", { "aria-label": "Pace" },
      PACES.map((pace) => make("option", { value: pace, selected: pace === 1 }, `${pace} ×`)));
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
      this._goTo(Number(this.scrub.value));
    });
  }

  _rounded() {
    this.pause();
    this._goTo(this.replay.rounds[Number(this.round.value)].start);
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
