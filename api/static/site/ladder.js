// Keep a ladder up to date, and highlight the bots whose rating has changed.
import { highlight } from "./dom.js";
import { renewRegularly } from "./renewal.js";

const readRatings = () => new Map([...document.querySelectorAll("tr[data-bot]")].map((row) => [row, row.dataset.micro]));
let ratings = readRatings();

renewRegularly(() => {
  const before = ratings;
  ratings = readRatings();
  for (const [row, rating] of ratings) if (before.has(row) && before.get(row) !== rating) highlight(row);
});
