// Format numbers and names as the server does, so that updated pages look like newly loaded ones.

import { fill } from "./dom.js";

const MINUS = "\u2212";
const THIN_SPACE = "\u202f";

/** Return a number with `digits` decimals, rounding half to even as the server does. */
export function fixed(value, digits) {
  const scale = 10 ** digits;
  const scaled = value * scale;
  const below = Math.floor(scaled);
  const rounded = scaled - below === 0.5 ? below + (below % 2 === 0 ? 0 : 1) : null;
  return rounded === null ? value.toFixed(digits) : (rounded / scale).toFixed(digits);
}

/** Return a number with separated thousands and `digits` decimals, or a dash for null. */
export function decimal(value, digits) {
  if (value === null || value === undefined) return "–";
  const [whole, part] = fixed(value, digits).split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, THIN_SPACE).replace("-", MINUS);
  return part === undefined ? apart : `${apart}.${part}`;
}

export function count(value) {
  return decimal(value, 0);
}

/** Return the name of a game as people read it: `pool-nap` as Pool Nap. */
export function gameName(game) {
  return game.split("-").map((word) => word[0].toUpperCase() + word.slice(1)).join(" ");
}

/** Move the bar in `place`, an element of class `progress`, and the figures next to it. */
export function moveProgress(place, { done, total }) {
  const bar = place.querySelector("progress");
  bar.max = Math.max(total, 1);
  bar.value = done;
  fill(place, { far: `${count(done)} of ${count(total)}` });
}
