// What is said in words: cards, sources of answers, numbers.

const PICTURE_RANKS = {
  2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", T: "ten",
  J: "jack", Q: "queen", K: "king", A: "ace",
};
export const PICTURE_SUITS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
const PICTURE_SIGNS = { c: "♣", d: "♦", h: "♥", s: "♠" };

/** How an answer came about. */
export const SOURCES = {
  bot: "the bot answered",
  default: "the default was played",
  forced: "everybody could see that there was one move only; the bot was not asked",
};

/** Whether this is a card somebody may see. */
export function isCard(card) {
  return typeof card === "string" && /^(?:[2-9TJQKA][cdhs]|X[12])$/.test(card);
}

/** "ten of hearts", "joker"; "hidden card" for any that is not seen. */
export function cardWords(card) {
  if (card?.[0] === "X") return "joker"; // of four, though only two have pictures
  return isCard(card) ? `${PICTURE_RANKS[card[0]]} of ${PICTURE_SUITS[card[1]]}` : "hidden card";
}

/** "the ten of spades", "a joker", "a hidden card". */
export function theCard(card) {
  const words = cardWords(card);
  return `${words.includes(" of ") ? "the" : "a"} ${words}`;
}

/** "10♥" */
export function cardSign(card) {
  if (!isCard(card)) return "?";
  return card[0] === "X" ? "Joker" : `${card[0] === "T" ? "10" : card[0]}${PICTURE_SIGNS[card[1]]}`;
}

/** Several cards for a listener: hidden ones are counted. */
export function cardsWords(cards) {
  const known = cards.filter(isCard).map(cardWords);
  const hidden = cards.length - known.length;
  if (hidden) known.push(counted(hidden, "hidden card"));
  return known.join(", ") || "no cards";
}

/** "1 card", "2 cards"; `nouns` where more than an s is added. */
export function counted(number, noun, nouns = `${noun}s`) {
  return `${number} ${number === 1 ? noun : nouns}`;
}

/** A number with a sign of its own for less than nothing. */
export function numberWords(number) {
  return String(number).replace("-", "−");
}
