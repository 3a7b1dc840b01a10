// The decision at hand: what the bot saw, what it answered, how long it took, what went wrong.

import { make, nameOf, text } from "./dom.js";
import { actionWords, nestedTable } from "./json_view.js";
import { OPEN } from "./replay.js";
import { SOURCES, counted } from "./words.js";

const MOST_LEGAL = 60; // shown at once
const MOST_EVENTS = 80;
const PATIENCE_MS = 250; // stepping on within this time asks nothing

/**
 * The panel. `question(row)` gives (a promise of) the question of a row, null where there is none to be had; `faults`
 * tells by code what happened and what to do.
 */
export class DecisionPanel {
  constructor(replay, { question, noQuestion, faults, linkOf }) {
    Object.assign(this, { replay, question, noQuestion, faults: new Map(Object.entries(faults ?? {})), linkOf });
    this._open = false;
    this._row = null;
    this._asked = 0;
    this.body = make("div", { class: "panel-body" });
    this.element = make("section", { class: "panel decision", "aria-label": "Decision" }, make("h2", {}, "Decision"), this.body);
  }

  show(at, viewer) {
    const row = this.replay.rowAt(at);
    const key = `${row?.row}|${viewer}`;
    if (key === this._row) return;
    this._row = key;
    clearTimeout(this._asked);
    this.body.replaceChildren(...this._contents(row, viewer));
  }

  _contents(row, viewer) {
    if (this.replay.live) return [quiet("What was asked and answered can be read when the match is over.")];
    if (row?.type === "chance") return [quiet("No bot was asked here: this follows from the seed."), make("p", { class: "quiet" }, `Row ${row.row} of the log.`)];
    if (row?.type !== "decision") return [quiet("Nothing has happened yet.")];
    if (viewer !== OPEN && viewer !== row.seat) {
      return [quiet(`${this.replay.nameOf(row.seat)} decided here. Choose the open view to read how.`)];
    }
    return [this._head(row), this._facts(row), this._fault(row), this._saw(row), this._link(row)].filter(Boolean);
  }

  _head(row) {
    return make("p", { class: "decided" }, make("span", { class: "tag" }, `#${row.n}`), " ", nameOf(this.replay.nameOf(row.seat)), ": ",
      make("b", {}, actionWords(row.action)));
  }

  _facts(row) {
    const { time } = this.replay.header;
    const facts = [["How", row.retired ? "the bot is not asked any more; the default was played" : (SOURCES[row.source] ?? text(row.source))]];
    if (row.source !== "forced" && Number.isFinite(row.ms)) facts.push(["Time", `${row.ms} ms of ${time?.budget_ms ?? "?"} ms`]);
    if (row.note) facts.push(["Note", make("q", { dir: "auto" }, text(row.note))]);
    return make("dl", { class: "facts" }, facts.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]).flat());
  }

  _fault(row) {
    if (!row.fault) return null;
    const advice = this.faults.get(row.fault);
    return make("div", { class: "notice bad" },
      make("p", {}, make("b", {}, "Fault: "), make("code", {}, text(row.fault)), advice ? `: ${advice.happened}.` : "."),
      advice ? make("p", {}, "What to do: ", advice.remedy, ".") : null);
  }

  /** What the bot saw, asked for only where somebody reads it. */
  _saw(row) {
    if (row.source === "forced" || row.retired) return null;
    const place = make("div", { class: "saw", "aria-live": "off" });
    const details = make("details", { open: this._open }, make("summary", {}, "What the bot saw"), place);
    details.addEventListener("toggle", () => {
      this._open = details.open;
      if (details.open && !place.hasChildNodes()) this._fill(place, row);
    });
    if (this._open) {
      place.append(quiet("…"));
      this._asked = setTimeout(() => this._fill(place, row), PATIENCE_MS);
    }
    return details;
  }

  async _fill(place, row) {
    try {
      const question = await this.question?.(row);
      place.replaceChildren(...(question ? this._question(question, row) : [quiet(this.noQuestion)]));
    } catch (error) {
      place.replaceChildren(quiet(`It could not be fetched: ${text(error.message)}`));
    }
  }

  _question(question, row) {
    const legal = Array.isArray(question.legal_actions) ? question.legal_actions : [];
    const events = Array.isArray(question.new_events) ? question.new_events : [];
    return [
      make("h3", {}, "Observation"), regionOf("Observation", nestedTable(question.observation)),
      make("h3", {}, `New events (${events.length})`),
      events.length ? make("ul", { class: "new-events" }, events.slice(-MOST_EVENTS).map((event) => this._eventItem(event))) : quiet("none"),
      make("h3", {}, counted(legal.length, "legal action")),
      make("ol", { class: "legal", start: 0 }, legal.slice(0, MOST_LEGAL).map((action) => legalItem(action, row.action, question.default_action))),
      legal.length > MOST_LEGAL ? quiet(`and ${legal.length - MOST_LEGAL} more`) : null,
      make("h3", {}, "Time"), regionOf("Time", nestedTable(question.time)),
    ].filter(Boolean);
  }

  _eventItem(event) {
    const words = this.replay.tell(event);
    return words ? make("li", {}, text(words)) : null;
  }

  _link(row) {
    const said = make("span", { class: "quiet", role: "status" });
    const copy = async () => {
      const link = this.linkOf(row);
      try {
        await navigator.clipboard.writeText(link);
        said.textContent = "Copied.";
      } catch {
        location.hash = new URL(link).hash;
        said.textContent = "It stands in the address bar.";
      }
    };
    return make("p", { class: "row" }, make("button", { type: "button", class: "small", click: copy }, "Copy a link to this decision"), said);
  }
}

function legalItem(action, played, otherwise) {
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const marks = [same(action, played) ? "played" : null, same(action, otherwise) ? "default" : null].filter(Boolean);
  return make("li", { class: marks.includes("played") ? "chosen" : null }, actionWords(action),
    marks.map((mark) => [" ", make("span", { class: "tag" }, mark)]).flat());
}

function regionOf(label, inside) {
  return make("div", { class: "frame", role: "region", tabindex: 0, "aria-label": label }, inside);
}

function quiet(words) {
  return make("p", { class: "quiet" }, words);
}
