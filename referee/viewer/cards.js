// Pictures of cards, and cards side by side. Where they lie on the table is not decided here.

import { make } from "./dom.js";
import { cardSign, cardsWords, isCard } from "./words.js";

const MOST_CARDS = 120; // in one fan; two packs and more
const PICTURES = new Map(); // card -> address, where they came with the page

/** Takes the pictures a page brought along, by card. */
export function bringPictures(drawings) {
  for (const [card, drawing] of Object.entries(drawings)) {
    PICTURES.set(card, `data:image/svg+xml,${encodeURIComponent(drawing)}`);
  }
}

/** Where the picture of a card is; the back for one that is hidden or unknown. */
export function pictureOf(card) {
  const name = isCard(card) ? card : "back";
  return PICTURES.get(name) ?? new URL(`./cards/${name}.svg`, import.meta.url).href;
}

/** A single card. */
export function cardPicture(card) {
  return make("img", { class: "face", src: pictureOf(card), alt: "", width: 240, height: 336, draggable: "false" });
}

/**
 * Shows cards overlapping in `fan`, keeping the pictures of those that stay; `label` says what they are to a listener.
 * Those in `moved` are marked.
 */
export function showFan(fan, cards, { label = "", moved = [] } = {}) {
  const shown = (Array.isArray(cards) ? cards : []).slice(0, MOST_CARDS);
  const words = `${label}: ${cardsWords(shown)}`;
  if (fan.dataset.shown === `${shown.join()}|${moved.join()}`) return;
  fan.dataset.shown = `${shown.join()}|${moved.join()}`;
  const there = new Map([...fan.children].map((slot) => [slot.dataset.key, slot]));
  const times = new Map();
  const slots = shown.map((card) => {
    const known = isCard(card) ? card : "??";
    const time = times.get(known) ?? 0;
    times.set(known, time + 1);
    const key = `${known}${time}`;
    const slot = there.get(key) ?? make("span", { class: "slot", "data-key": key, title: isCard(card) ? cardSign(card) : null }, cardPicture(card));
    slot.classList.toggle("moved", moved.includes(card) && isCard(card));
    return slot;
  });
  fan.replaceChildren(...slots);
  fan.hidden = !slots.length;
  fan.setAttribute("role", "img");
  fan.setAttribute("aria-label", words);
}
