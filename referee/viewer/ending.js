// Show how a match ended when the reader has watched it to its end: placements, turning point, and what to do next.

import { make, nameOf, text } from "./dom.js";
import { turningPointOf, winnersOf } from "./highlights.js";
import { numberWords } from "./words.js";

/**
 * Show the result over the table in `element`. `goTo(at)` jumps to a moment, and `again()` plays the match from its
 * beginning. `next()`, if given, resolves to {href, words} of a match to watch next, or to null. `link`, if given, is the
 * address to share, and `embed` that of a page that other sites may show in a frame.
 */
export class Ending {
  constructor(replay, { goTo, again, next = null, link = null, embed = null }) {
    Object.assign(this, { replay, goTo, again, next, link, embed });
    this.element = make("section", { class: "ending", "aria-label": "Result of the match", hidden: true });
  }

  /** Show the result. Fetch the next match when it is shown first. */
  show() {
    const { result } = this.replay;
    if (!result || !this.element.hidden) return;
    if (!this.element.hasChildNodes()) this._fill(result);
    this.element.hidden = false;
  }

  /** Hide the result. Give the focus back first: until the browser notices that it is hidden, a button in it would take Space. */
  hide() {
    if (this.element.contains(document.activeElement)) document.activeElement.blur();
    this.element.hidden = true;
  }

  _fill(result) {
    const close = make("button", { type: "button", class: "small close", "aria-label": "Close", click: () => this.hide() }, "✕");
    this._following = make("span", {});
    this.element.append(close, this._title(result), this._places(result), ...this._turningPoint(),
      make("p", { class: "row actions" }, make("button", { type: "button", class: "small", click: this.again }, "Watch again"), this._share(), this._following));
    this.next?.().then((found) => {
      if (found) this._following.replaceWith(make("a", { class: "button primary", href: found.href }, text(found.words)));
    }, () => {});
  }

  _title(result) {
    const winners = winnersOf(result).map((seat) => nameOf(this.replay.nameOf(seat)));
    const names = winners.flatMap((name, place) => [place === 0 ? "" : place === winners.length - 1 ? " and " : ", ", name]);
    return make("h2", {}, names, winners.length === 1 ? " wins" : " share the first place");
  }

  _places({ placements, scores }) {
    const seats = placements.map((_, seat) => seat).sort((one, other) => placements[one] - placements[other] || one - other);
    return make("ol", { class: "places" }, seats.map((seat) => make("li", {}, make("b", { class: "place" }, `${placements[seat]}.`), " ",
      nameOf(this.replay.nameOf(seat)), " ", make("span", { class: "points" }, numberWords(scores[seat])))));
  }

  _turningPoint() {
    const at = turningPointOf(this.replay);
    if (at < 0) return [];
    const round = this.replay.rounds[this.replay.roundAt(at)].title;
    return [make("p", {}, "Took the lead for good in ", make("button", { type: "button", class: "small", click: () => this.goTo(at) }, text(round)))];
  }

  _share() {
    if (!this.link) return null;
    const said = make("span", { class: "quiet", role: "status" });
    const share = async () => {
      try {
        if (navigator.share) await navigator.share({ title: document.title, url: this.link });
        else {
          await navigator.clipboard.writeText(this.link);
          said.textContent = "Link copied.";
        }
      } catch (error) {
        if (error.name !== "AbortError") said.textContent = "Copy the link from the address bar.";
      }
    };
    return [make("button", { type: "button", class: "small", click: share }, "Share"), ...this._embed(said), said];
  }

  /** Return a button that shows and copies the code of a frame with this match, and a field for the code. */
  _embed(said) {
    if (!this.embed) return [];
    const code = `<iframe src="${this.embed}" width="640" height="480" allow="fullscreen" title="Card game"></iframe>`;
    const field = make("input", { class: "embed-code", readonly: true, hidden: true, "aria-label": "Code to embed" });
    field.value = code;
    const show = async () => {
      field.hidden = false;
      field.select();
      await navigator.clipboard?.writeText(code).then(() => (said.textContent = "Code copied."), () => {}); // it can be copied by hand
    };
    return [make("button", { type: "button", class: "small", click: show }, "Embed"), field];
  }
}
