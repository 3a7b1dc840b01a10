// Create elements. All content is text; nothing is parsed as markup.

const SVG_SPACE = "http://www.w3.org/2000/svg";
const MOST_SHOWN = 4_000; // characters of one text; a hostile log may contain millions

/** Create an element with attributes (skip false, null and undefined; functions become listeners) and children. */
export function make(name, attributes = {}, ...children) {
  return withAttributes(document.createElement(name), attributes, children);
}

/** Create an SVG element in the same way. */
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

/** Return any value as text of bounded length. */
export function text(value) {
  const whole = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return whole.length > MOST_SHOWN ? `${whole.slice(0, MOST_SHOWN)} … (${whole.length} characters)` : whole;
}

/** Return an untrusted name whose text direction cannot affect the line around it. */
export function nameOf(words) {
  return make("bdi", {}, text(words));
}

/** Set the text of an element only if it differs, so that nothing is announced or laid out twice. */
export function setText(place, words) {
  if (place.textContent !== words) place.textContent = words;
}

/** Create a table in a scrolling frame. `head` are texts, `rows` lists of texts or elements; the first cell is a header. */
export function tableOf(caption, head, rows, { numbers = [] } = {}) {
  const side = (place) => (numbers.includes(place) ? "number" : null);
  const top = make("tr", {}, head.map((title, place) => make("th", { scope: "col", class: side(place) }, title)));
  const body = rows.map((row) =>
    make("tr", {}, row.map((cell, place) =>
      place === 0 ? make("th", { scope: "row", class: side(0) }, cell) : make("td", { class: side(place) }, cell))));
  return make("div", { class: "table", role: "region", tabindex: 0, "aria-label": caption },
    make("table", {}, make("caption", {}, caption), make("thead", {}, top), make("tbody", {}, body)));
}
