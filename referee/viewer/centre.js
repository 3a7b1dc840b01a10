// Draw the middle of the table: tricks, rivers, piles, pots, boards and notes.

import { cardFace, cardPicture, markSmall, showFan } from "./cards.js";
import { make, text } from "./dom.js";
import { cardWords, cardsWords, countNoun } from "./words.js";

const SPREAD = 9; // maximum number of cards that do not overlap
const DRAWN = { cards: spread, pile: pile, pot: pot, board: board, note: note };

const SMALLER = 0.94; // factor of one step of fitting
const SMALLEST = 0.2;
const NAMED_PX = 52; // a narrower card shows the number of its seat without the name
const MOST_MEASURED = 24; // positions of a match that are measured, those that need most space

/** Show the middle of the table in `element`, with cards of one size in all positions of a match. */
export class CentreView {
  constructor(nameOf) {
    this._nameOf = nameOf;
    this._fit = 1;
    this.middle = make("div", { class: "middle" });
    this.probe = make("span", { class: "probe" });
    this.element = make("div", { class: "centre", role: "group", "aria-label": "Middle of the table" }, this.middle, this.probe);
  }

  show(position) {
    this._fill(position);
    this._shrink(); // for positions that were not measured, as in a live match
  }

  /** Choose the largest size of cards with which all middles of the match fit. Afterwards, show a position again. */
  fit({ centres, aloud }) {
    this._setFit(1);
    this.element.classList.toggle("announces", aloud);
    const demanding = [...centres.values()].map((centre) => [demandOf(centre), centre]).sort(([left], [right]) => right - left);
    for (const [, centre] of demanding.slice(0, MOST_MEASURED)) {
      this._fill({ centre });
      this._shrink();
    }
  }

  _fill(position) {
    const items = (position.centre ?? []).filter((item) => Object.hasOwn(DRAWN, item?.kind));
    const said = (Array.isArray(position.said) ? position.said : []).filter((remark) => remark?.seat === null);
    const context = { nameOf: this._nameOf, moved: position.moved ?? [] };
    this.middle.replaceChildren(...items.map((item) =>
      make("div", { class: `item item-${item.kind}` }, make("span", { class: "label" }, text(item.name)), DRAWN[item.kind](item, context))),
    make("p", { class: "aloud" }, said.map((remark) => text(remark.text)).join("; ")));
  }

  /** Make the cards smaller until the middle fits. */
  _shrink() {
    const { element, middle } = this;
    const fits = () => middle.offsetHeight <= element.clientHeight && middle.scrollWidth <= element.clientWidth;
    while (this._fit > SMALLEST && !fits()) this._setFit(this._fit * SMALLER);
  }

  _setFit(fit) {
    this._fit = fit;
    this.element.style.setProperty("--fit", fit.toFixed(3));
    markSmall(this.element, this.probe);
    this.element.classList.toggle("numbered", this.probe.offsetWidth < NAMED_PX);
  }
}

/** Return a rough measure of the space that a middle needs, in cards. */
function demandOf(centre) {
  return centre.reduce((sum, item) => sum + (item.kind === "cards" ? (item.cards?.length ?? 0) : 0) + Math.max(String(item.name).length, String(item.text ?? "").length) / 8 + 1, 0);
}

function spread(item, { nameOf, moved }) {
  const cards = Array.isArray(item.cards) ? item.cards : [];
  const seated = cards.some((entry) => Number.isInteger(entry?.seat));
  if (!seated || cards.length > 2 * SPREAD) {
    const fan = make("div", { class: cards.length > SPREAD ? "fan" : "fan loose" });
    showFan(fan, cards.map((entry) => entry?.card), { label: text(item.name), moved });
    return cards.length ? fan : make("span", { class: "pile bare", role: "img", "aria-label": "none yet" });
  }
  return make("ul", { class: cards.length > SPREAD ? "trick long" : "trick" }, cards.map(({ card, seat }) =>
    make("li", { class: moved.includes(card) ? "moved" : null },
      cardFace(card, { role: "img", "aria-label": cardWords(card) }),
      Number.isInteger(seat) ? make("span", { class: "by" }, make("span", { class: "chair" }, String(seat + 1)), make("bdi", {}, text(nameOf(seat)))) : null)));
}

function pile(item) {
  const count = Number(item.count) || 0;
  const label = `${countNoun(count, "card")}${item.top ? `, ${cardWords(item.top)} on top` : ""}`;
  return make("div", { class: count ? "pile" : "pile bare", role: "img", "aria-label": label },
    count ? cardPicture(item.top ?? "??") : null, make("b", { class: "count" }, String(count)));
}

function pot(item) {
  return make("div", { class: "pot" }, make("b", {}, text(item.chips)), make("span", {}, item.chips === 1 ? " chip" : " chips"));
}

function board(item) {
  const spaces = Array.isArray(item.spaces) ? item.spaces : [];
  return make("ul", { class: "board" }, spaces.map((space) =>
    make("li", { class: space?.chips ? null : "bare" },
      space?.card ? cardFace(space.card) : null,
      make("span", { class: space?.card ? "unseen" : "space" }, `${text(space?.label)} `), make("b", {}, text(space?.chips)),
      make("span", { class: "unseen" }, " chips"))));
}

function note(item) {
  const card = item.card ? make("span", { role: "img", "aria-label": cardsWords([item.card]) }, cardPicture(item.card)) : null;
  return make("div", { class: "note" }, card, make("b", {}, text(item.text)));
}
