// Describe cards, seats, numbers and the sources of answers in words.

const PICTURE_RANKS = {
  2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", T: "ten",
  J: "jack", Q: "queen", K: "king", A: "ace",
};
export const PICTURE_SUITS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
const PICTURE_SIGNS = { c: "♣", d: "♦", h: "♥", s: "♠" };

/** The descriptions of answers, by source. */
export const SOURCES = {
  bot: "the bot answered",
  default: "the default action was played",
  forced: "only one action was legal and everyone could see it, so the bot was not asked",
};

/** Return whether a value is a visible card. */
export function isCard(card) {
  return typeof card === "string" && /^(?:[2-9TJQKA][cdhs]|X[12])$/.test(card);
}

/** Return a card in words, like "ten of hearts" or "joker", or "hidden card" for any other value. */
export function cardWords(card) {
  if (card?.[0] === "X") return "joker"; // any of four jokers, although only two have pictures
  return isCard(card) ? `${PICTURE_RANKS[card[0]]} of ${PICTURE_SUITS[card[1]]}` : "hidden card";
}

/** Return a card in words with its article, like "the ten of spades", "a joker" or "a hidden card". */
export function theCard(card) {
  const words = cardWords(card);
  return `${words.includes(" of ") ? "the" : "a"} ${words}`;
}

/** Return a text with a capital first letter. */
export function capitalized(words) {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Return "seat 1" for seat 0, because people count seats from 1. */
export function seatWords(seat) {
  return `seat ${seat + 1}`;
}

/** Return a card as a short sign like "10♥", or "?" if it is not visible. */
export function cardSign(card) {
  if (!isCard(card)) return "?";
  return card[0] === "X" ? "Joker" : `${card[0] === "T" ? "10" : card[0]}${PICTURE_SIGNS[card[1]]}`;
}

/** Return a list of cards in words for screen readers, with the number of hidden cards. */
export function cardsWords(cards) {
  const known = cards.filter(isCard).map(cardWords);
  const hidden = cards.length - known.length;
  if (hidden) known.push(countNoun(hidden, "hidden card"));
  return known.join(", ") || "no cards";
}

/** Return a count with its noun, like "1 card" or "2 cards". `nouns` is an irregular plural. */
export function countNoun(number, noun, nouns = `${noun}s`) {
  return `${number} ${number === 1 ? noun : nouns}`;
}

/** Return a number as text, with a minus sign instead of a hyphen. */
export function numberWords(number) {
  return String(number).replace("-", "−");
}
