// Draw the middle of the table: tricks, rivers, piles, pots, boards and notes.

import { cardPicture, showFan } from "./cards.js";
import { make, text } from "./dom.js";
import { cardWords, cardsWords, countNoun } from "./words.js";

const SPREAD = 9; // maximum number of cards that do not overlap
const DRAWN = { cards: spread, pile: pile, pot: pot, board: board, note: note };

/** Return the items in the middle as elements. */
export function centreOf(position, nameOf) {
  const items = position.centre ?? [];
  const moved = position.moved ?? [];
  return items.filter((item) => Object.hasOwn(DRAWN, item?.kind)).map((item) =>
    make("div", { class: `item item-${item.kind}` },
      make("span", { class: "label" }, text(item.name)), DRAWN[item.kind](item, { nameOf, moved })));
}

function spread(item, { nameOf, moved }) {
  const cards = Array.isArray(item.cards) ? item.cards : [];
  const seated = cards.some((entry) => Number.isInteger(entry?.seat));
  if (!seated || cards.length > 2 * SPREAD) {
    const fan = make("div", { class: cards.length > SPREAD ? "fan" : "fan loose" });
    showFan(fan, cards.map((entry) => entry?.card), { label: text(item.name), moved });
    return cards.length ? fan : make("span", { class: "pile bare", role: "img", "aria-label": "none yet" });
  }
  return make("ul", { class: "trick" }, cards.map(({ card, seat }) =>
    make("li", { class: moved.includes(card) ? "moved" : null },
      make("span", { role: "img", "aria-label": cardWords(card) }, cardPicture(card)),
      make("bdi", { class: "by" }, text(Number.isInteger(seat) ? nameOf(seat) : "")))));
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
      space?.card ? cardPicture(space.card) : null,
      make("span", { class: space?.card ? "unseen" : "space" }, `${text(space?.label)} `), make("b", {}, text(space?.chips)),
      make("span", { class: "unseen" }, " chips"))));
}

function note(item) {
  const card = item.card ? make("span", { role: "img", "aria-label": cardsWords([item.card]) }, cardPicture(item.card)) : null;
  return make("div", { class: "note" }, card, make("b", {}, text(item.text)));
}
