// Figures as the server writes them, so that what is told live looks like what a fresh page shows.

const MINUS = "\u2212";
const THIN_SPACE = "\u202f";

/** With so many decimals; exactly between two, the even one, as the server rounds. */
export function fixed(value, digits) {
  const scale = 10 ** digits;
  const scaled = value * scale;
  const below = Math.floor(scaled);
  const rounded = scaled - below === 0.5 ? below + (below % 2 === 0 ? 0 : 1) : null;
  return rounded === null ? value.toFixed(digits) : (rounded / scale).toFixed(digits);
}

/** A number for people, its thousands set apart; a dash for none. */
export function decimal(value, digits) {
  if (value === null || value === undefined) return "–";
  const [whole, part] = fixed(value, digits).split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, THIN_SPACE).replace("-", MINUS);
  return part === undefined ? apart : `${apart}.${part}`;
}

export function count(value) {
  return decimal(value, 0);
}

const STATES = {
  open: "open for entries",
  due: "about to start",
};

/** A state of an event or match in words. */
export function state(word) {
  return STATES[word] ?? word;
}
