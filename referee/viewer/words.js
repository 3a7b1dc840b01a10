// Words for cards, seats, numbers and the sources of answers.

const PICTURE_RANKS = {
  2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", T: "ten",
  J: "jack", Q: "queen", K: "king", A: "ace",
};
export const PICTURE_SUITS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
const PICTURE_SIGNS = { c: "♣", d: "♦", h: "♥", s: "♠" };

/** Descriptions by source of an answer. */
export const SOURCES = {
  bot: "the bot answered",
  default: "the default action was played",
  forced: "everybody could see that only one action was legal; the bot was not asked",
};

/** Return whether this is a visible card. */
export function isCard(card) {
  return typeof card === "string" && /^(?:[2-9TJQKA][cdhs]|X[12])$/.test(card);
}

/** "ten of hearts", "joker"; "hidden card" for any other. */
export function cardWords(card) {
  if (card?.[0] === "X") return "joker"; // there are four, but only two have pictures
  return isCard(card) ? `${PICTURE_RANKS[card[0]]} of ${PICTURE_SUITS[card[1]]}` : "hidden card";
}

/** "the ten of spades", "a joker", "a hidden card". */
export function theCard(card) {
  const words = cardWords(card);
  return `${words.includes(" of ") ? "the" : "a"} ${words}`;
}

/** "Seat 1" for "seat 1". */
export function capitalized(words) {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** "seat 1": seats count from 0 in data and from 1 where people read. */
export function seatWords(seat) {
  return `seat ${seat + 1}`;
}

/** "10♥" */
export function cardSign(card) {
  if (!isCard(card)) return "?";
  return card[0] === "X" ? "Joker" : `${card[0] === "T" ? "10" : card[0]}${PICTURE_SIGNS[card[1]]}`;
}

/** Return several cards for a screen reader; hidden cards are counted. */
export function cardsWords(cards) {
  const known = cards.filter(isCard).map(cardWords);
  const hidden = cards.length - known.length;
  if (hidden) known.push(countNoun(hidden, "hidden card"));
  return known.join(", ") || "no cards";
}

/** "1 card", "2 cards"; `nouns` is the plural if it is irregular. */
export function countNoun(number, noun, nouns = `${noun}s`) {
  return `${number} ${number === 1 ? noun : nouns}`;
}

/** Return a number with a true minus sign. */
export function numberWords(number) {
  return String(number).replace("-", "−");
}
