// Show the current decision in a panel: the question, the answer, its time and its fault.

import { actionWords } from "./action_words.js";
import { make, nameOf, text } from "./dom.js";
import { fetchPart } from "./parts.js";
import { OPEN } from "./replay.js";
import { SOURCES } from "./words.js";

const PATIENCE_MS = 250; // wait before fetching a question, so that none is fetched while stepping

/**
 * Show the current decision. `question(row)` returns the question of a row or null, or a promise of either. `faults` has
 * the descriptions and remedies of faults, by code.
 */
export class DecisionPanel {
  constructor(replay, { question, noQuestion, faults, linkOf }) {
    Object.assign(this, { replay, question, noQuestion, faults: new Map(Object.entries(faults ?? {})), linkOf });
    this._open = false;
    this._row = null;
    this._timer = 0;
    this.body = make("div", { class: "panel-body" });
    this.element = make("section", { class: "panel decision", "aria-label": "Decision" }, make("h2", {}, "Decision"), this.body);
  }

  show(at, viewer) {
    const row = this.replay.rowAt(at);
    const key = `${row?.row}|${viewer}`;
    if (key === this._row) return;
    this._row = key;
    clearTimeout(this._timer);
    this.body.replaceChildren(...this._contents(row, viewer));
  }

  _contents(row, viewer) {
    if (this.replay.live) return [quiet("Questions and answers can be read when the match is over.")];
    if (row?.type === "chance") return [quiet("No bot was asked here. The outcome follows from the seed."), make("p", { class: "quiet" }, `Row ${row.row} of the log.`)];
    if (row?.type !== "decision") return [quiet("Nothing has happened yet.")];
    if (viewer !== OPEN && viewer !== row.seat) {
      return [quiet(`${this.replay.nameOf(row.seat)} decided here. Choose the view “everything open” to see the decision.`)];
    }
    return [this._head(row), this._facts(row), this._fault(row), this._saw(row), this._link(row)].filter(Boolean);
  }

  _head(row) {
    return make("p", { class: "decided" }, make("span", { class: "tag" }, `#${row.n}`), " ", nameOf(this.replay.nameOf(row.seat)), ": ",
      make("b", {}, actionWords(row.action)));
  }

  _facts(row) {
    const { time } = this.replay.header;
    const facts = [["How", row.retired ? "the bot is no longer asked; the default action was played" : (SOURCES[row.source] ?? text(row.source))]];
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

  /** Return a section with the question, which is fetched only when the reader opens it. */
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
      this._timer = setTimeout(() => this._fill(place, row), PATIENCE_MS);
    }
    return details;
  }

  async _fill(place, row) {
    try {
      const question = await this.question?.(row);
      place.replaceChildren(...(question ? (await fetchPart("questionView"))(question, row, this.replay) : [quiet(this.noQuestion)]));
    } catch (error) {
      place.replaceChildren(quiet(`The question could not be fetched: ${text(error.message)}`));
    }
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
        said.textContent = "Copy the link from the address bar.";
      }
    };
    return make("p", { class: "row" }, make("button", { type: "button", class: "small", click: copy }, "Copy a link to this decision"), said);
  }
}

function quiet(words) {
  return make("p", { class: "quiet" }, words);
}
