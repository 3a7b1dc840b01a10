// Move cards and chips from where they were to where they are, when a match is played or stepped forward.

import { make } from "./dom.js";

const MOST_MS = 260;
const SHARE = 0.45; // of the time until the next step
const LEAST_MS = 70; // shorter movements are not seen
const DEAL_MS = 35; // between two cards of a deal
const MOST_FLYING = 60;
const CHIP = "chip";

/** Animate the step from one position of the table in `felt` to the next. `pictureOf(card)` is the URL of a picture. */
export class Flights {
  constructor(felt, pictureOf) {
    this.felt = felt;
    this._pictureOf = pictureOf;
    this.layer = make("div", { class: "flights", "aria-hidden": "true" });
    this._before = null;
  }

  /** Remember where everything is in this position, before the next one is drawn. Without a position, nothing will move. */
  begin(position) {
    this._before = position && { position, ...this._places() };
  }

  /** Move what has changed its place, within `stepMs`. */
  end(position, stepMs) {
    const before = this._before;
    const duration = Math.min(MOST_MS, SHARE * stepMs);
    this._before = null;
    if (!before || duration < LEAST_MS) return;
    const after = this._places();
    this.layer.replaceChildren();
    this._moveCards(before, after, duration);
    this._collectCards(before, after, position, duration);
    this._moveChips(before, after, position, duration);
  }

  /** Return the places of known cards, of the seats, and of the middle. */
  _places() {
    const cards = new Map();
    for (const element of this.felt.querySelectorAll("[data-card]")) {
      if (!cards.has(element.dataset.card)) cards.set(element.dataset.card, { element, box: boxOf(element) });
    }
    const seats = [...this.felt.querySelectorAll(".seat")].map((seat) => seat.getBoundingClientRect());
    const middle = this.felt.querySelector(".centre").getBoundingClientRect();
    const pot = (this.felt.querySelector(".pot, .board") ?? this.felt.querySelector(".centre")).getBoundingClientRect();
    return { cards, seats, middle, pot };
  }

  /** Let cards that were moved come from their last place, or from the middle if they were not visible. */
  _moveCards(before, after, duration) {
    const moved = [...this.felt.querySelectorAll(".moved[data-card], .moved [data-card]")].slice(0, MOST_FLYING);
    moved.forEach((element, place) => {
      const { card } = element.dataset;
      const to = boxOf(element);
      const from = before.cards.get(card)?.box ?? sourceOf(element, before);
      if (!near(from, to)) this._fly(this._pictureOf(card), from, to, { duration, delay: moved.length > 4 ? place * DEAL_MS : 0, hidden: element });
    });
  }

  /** Let cards that left the middle go to the seat that took them. */
  _collectCards(before, after, position, duration) {
    const taker = position.seats.findIndex((seat, number) => pilesOf(seat) > pilesOf(before.position.seats[number]));
    if (taker < 0) return;
    for (const [card, { element, box }] of before.cards) {
      if (!after.cards.has(card) && element.closest(".trick, .item") !== null) this._fly(this._pictureOf(card), box, after.seats[taker], { duration, fades: true });
    }
  }

  /** Let chips go from seats to the pot and back. */
  _moveChips(before, after, position, duration) {
    const change = potOf(position) - potOf(before.position);
    position.seats.forEach((seat, number) => {
      const gained = (seat.chips ?? 0) - (before.position.seats[number]?.chips ?? 0);
      if (gained < 0 && change > 0) this._fly(CHIP, after.seats[number], after.pot, { duration });
      if (gained > 0 && change < 0) this._fly(CHIP, before.pot, after.seats[number], { duration });
    });
  }

  _fly(picture, from, to, { duration, delay = 0, hidden = null, fades = false }) {
    const home = this.layer.getBoundingClientRect();
    const piece = picture === CHIP ? make("span", { class: "flying-chip" }) : make("img", { src: picture, alt: "", class: "flying" });
    const size = picture === CHIP ? { width: 22, height: 22 } : fades ? from : to;
    const centred = (box) => `translate(${box.left + box.width / 2 - home.left - size.width / 2}px, ${box.top + box.height / 2 - home.top - size.height / 2}px)`;
    const scale = picture === CHIP || fades ? 1 : Math.min(2, Math.max(0.3, from.width / to.width || 1));
    piece.style.setProperty("width", `${size.width}px`);
    piece.style.setProperty("height", `${size.height}px`);
    this.layer.append(piece);
    const timing = { duration, delay, easing: "ease-out", fill: "both" };
    const frames = [{ transform: `${centred(from)} scale(${scale})`, opacity: 1 }, { transform: `${centred(to)} scale(${fades ? 0.4 : 1})`, opacity: fades ? 0 : 1 }];
    piece.animate(frames, timing).finished.then(() => piece.remove(), () => {});
    hidden?.animate([{ opacity: 0 }, { opacity: 0 }], { duration: duration + delay });
  }
}

/** Return the place from which a card comes that was not visible: a hidden hand for a played card, else the middle. */
function sourceOf(element, { seats, middle }) {
  const chair = Number(element.closest("li")?.querySelector(".chair")?.textContent);
  const seat = seats[chair - 1];
  return seat ?? { left: middle.left + middle.width / 2, top: middle.top + middle.height / 2, width: 30, height: 42 };
}

/** Return the place of the whole card, of which a card above it may cover most. */
function boxOf(element) {
  return element.querySelector(".face").getBoundingClientRect();
}

function near(from, to) {
  return Math.hypot(from.left - to.left, from.top - to.top) < 4;
}

function pilesOf(seat) {
  return (seat?.piles ?? []).reduce((sum, pile) => sum + (Number(pile?.count) || 0), 0);
}

function potOf(position) {
  return (position.centre ?? []).reduce((sum, item) => {
    const spaces = Array.isArray(item?.spaces) ? item.spaces : [];
    return sum + (Number(item?.chips) || 0) + spaces.reduce((chips, space) => chips + (Number(space?.chips) || 0), 0);
  }, 0);
}
