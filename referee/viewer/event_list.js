// List the events of a round, with items that jump to their moments.

import { make, setText, text } from "./dom.js";
import { OPEN } from "./replay.js";

const MOST_LISTED = 240; // maximum number of items around the current moment

/** Show the list of events. `goTo(at)` is called with the selected moment. */
export class EventList {
  constructor(replay, { goTo }) {
    this.replay = replay;
    this._goTo = goTo;
    this._shown = "";
    this._buttons = new Map();
    this.title = make("h2", {}, "Events");
    this.list = make("ol", { class: "event-list" });
    this.frame = make("div", { class: "event-list-frame", role: "region", tabindex: 0, "aria-label": "Events of the round" }, this.list);
    this.element = make("section", { class: "panel" }, this.title, this.frame);
  }

  show(at, viewer) {
    const round = this.replay.roundAt(at);
    let [start, end] = this.replay.bounds(round);
    if (end - start > MOST_LISTED) {
      const window = start + Math.floor((at - start) / (MOST_LISTED / 2)) * (MOST_LISTED / 2);
      [start, end] = [Math.max(start, window - MOST_LISTED / 2), Math.min(end, window + MOST_LISTED)];
    }
    const shown = `${start}|${end}|${viewer}|${this.replay.moments.length}`;
    if (shown !== this._shown) this._fill(start, end, viewer, round);
    this._shown = shown;
    this._mark(at);
  }

  _fill(start, end, viewer, round) {
    this.title.textContent = this.replay.rounds[round].title;
    const events = this.replay.eventsBetween(start, end, viewer);
    this._buttons.clear();
    this._marked = null;
    this.list.replaceChildren(...events.map((event, place) => this._item(start + place, event, viewer)).filter(Boolean));
  }

  _item(at, event, viewer) {
    const moment = this.replay.moments[at];
    const row = this.replay.rowAt(at);
    const words = sentenceAt(this.replay, at, event);
    if (words === null) return null;
    const fault = moment.first && row.fault && viewer === OPEN ? make("span", { class: "tag bad" }, `fault: ${text(row.fault)}`) : null;
    const button = make("button", { type: "button", class: moment.event ? null : "sealed", click: () => this._goTo(at) }, words, fault ? " " : null, fault);
    this._buttons.set(at, button);
    return make("li", {}, button);
  }

  _mark(at) {
    let near = at;
    while (near > 0 && !this._buttons.has(near) && near > at - 12) near -= 1;
    const button = this._buttons.get(near) ?? null;
    if (button === this._marked) return;
    this._marked?.removeAttribute("aria-current");
    this._marked = button;
    if (!button) return;
    button.setAttribute("aria-current", "step");
    const { frame } = this;
    const top = button.offsetTop - frame.offsetTop;
    if (top < frame.scrollTop || top + button.offsetHeight > frame.scrollTop + frame.clientHeight) {
      frame.scrollTop = Math.max(0, top - frame.clientHeight / 3);
    }
  }
}

/** Return a moment as a sentence for a viewer who sees `event`, or null if it needs no item. */
export function sentenceAt(replay, at, event) {
  const { event: whole } = replay.moments[at];
  const row = replay.rowAt(at);
  if (!whole) return `${replay.nameOf(row.seat)} has chosen; the choice is revealed when all have chosen.`;
  if (!event) return null;
  const sentence = replay.describe(event);
  return sentence === null || sentence === undefined ? null : text(String(sentence));
}

/** Show words in a font that lets them fit; those that are still too long can be scrolled. */
export function say(sentence, words) {
  setText(sentence, words);
  sentence.classList.remove("long", "longest");
  sentence.removeAttribute("tabindex");
  const tooLong = () => sentence.scrollHeight > sentence.clientHeight + 1;
  for (const size of ["long", "longest"]) if (tooLong()) sentence.classList.add(size);
  if (tooLong()) sentence.tabIndex = 0;
}
