// Draw cards as pictures, and fans of overlapping cards.

import { make } from "./dom.js";
import { cardSign, cardsWords, isCard } from "./words.js";

const MOST_CARDS = 120; // maximum number in one fan; more than two packs
const SMALL_PX = 34; // a narrower card shows its rank and suit as text, because its picture is illegible

const PICTURES = new Map(); // data URLs by card

/** Use these SVG pictures, by card. */
export function addPictures(drawings) {
  for (const [card, drawing] of Object.entries(drawings)) {
    PICTURES.set(card, `data:image/svg+xml,${encodeURIComponent(drawing)}`);
  }
}

/** Fetch the pictures of all cards with one request. Without them, each is fetched when it is first shown. */
export async function fetchPictures() {
  const answer = await fetch(new URL("./cards.json", import.meta.url)).catch(() => null);
  if (answer?.ok) addPictures(await answer.json());
}

/** Return the URL of a card's picture, or of the card back for a hidden or unknown card. */
export function pictureOf(card) {
  const name = isCard(card) ? card : "back";
  return PICTURES.get(name) ?? new URL(`./cards/${name}.svg`, import.meta.url).href;
}

/** Mark `place` if its cards, as wide as `probe`, are too small for pictures. Cards that are not displayed have no width. */
export function markSmall(place, probe) {
  const width = probe.offsetWidth;
  place.classList.toggle("small", width > 0 && width < SMALL_PX);
}

/** Create the picture of a card. */
export function cardPicture(card) {
  return make("img", { class: "face", src: pictureOf(card), alt: "", width: 240, height: 336, draggable: "false" });
}

/** Create a card. `data-face` is what it shows instead of its picture if it is small. */
export function cardFace(card, attributes = {}) {
  const suited = isCard(card) && card[0] !== "X";
  const sign = isCard(card) ? cardSign(card) : null;
  return make("span", { ...attributes, "data-card": isCard(card) ? card : null, class: `${attributes.class ?? ""} framed${suited && "hd".includes(card[1]) ? " red" : ""}`.trim(), title: sign,
    "data-face": suited ? `${sign.slice(0, -1)}\n${sign.slice(-1)}` : null }, cardPicture(card));
}

/**
 * Show overlapping cards in the element `fan`, reusing the pictures of cards that stay. `label` describes them to screen
 * readers. Cards in `moved` are marked.
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
    const slot = there.get(key) ?? cardFace(card, { class: "slot", "data-key": key });
    slot.classList.toggle("moved", moved.includes(card) && isCard(card));
    return slot;
  });
  fan.replaceChildren(...slots);
  fan.hidden = !slots.length;
  fan.setAttribute("role", "img");
  fan.setAttribute("aria-label", words);
}
