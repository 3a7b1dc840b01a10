// Create elements. All content is added as text and never parsed as markup.

const SVG_SPACE = "http://www.w3.org/2000/svg";
const MOST_SHOWN = 4_000; // maximum characters of one text, because a hostile log may contain millions

/** Create an element with attributes and children. Skip false, null and undefined; add functions as event listeners. */
export function make(name, attributes = {}, ...children) {
  return withAttributes(document.createElement(name), attributes, children);
}

/** Create an SVG element, with the same arguments as `make`. */
export function draw(name, attributes = {}, ...children) {
  return withAttributes(document.createElementNS(SVG_SPACE, name), attributes, children);
}

function withAttributes(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") made.addEventListener(key, value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Return any value as text, truncated to `MOST_SHOWN` characters. */
export function text(value) {
  const whole = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return whole.length > MOST_SHOWN ? `${whole.slice(0, MOST_SHOWN)} … (${whole.length} characters)` : whole;
}

/** Create an element for an untrusted name that isolates its text direction from the surrounding text. */
export function nameOf(words) {
  return make("bdi", {}, text(words));
}

/** Set the text of an element only if it differs, so that it is not announced or laid out again. */
export function setText(place, words) {
  if (place.textContent !== words) place.textContent = words;
}

/** Create a table in a scrolling frame, with texts in `head` and lists of texts or elements in `rows`. */
export function tableOf(caption, head, rows, { numbers = [] } = {}) {
  const side = (place) => (numbers.includes(place) ? "number" : null);
  const top = make("tr", {}, head.map((title, place) => make("th", { scope: "col", class: side(place) }, title)));
  const body = rows.map((row) =>
    make("tr", {}, row.map((cell, place) =>
      place === 0 ? make("th", { scope: "row", class: side(0) }, cell) : make("td", { class: side(place) }, cell))));
  return make("div", { class: "table", role: "region", tabindex: 0, "aria-label": caption },
    make("table", {}, make("caption", {}, caption), make("thead", {}, top), make("tbody", {}, body)));
}
