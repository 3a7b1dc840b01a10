// Making elements. Whatever is shown is text; nothing is ever read as markup.

const SVG_SPACE = "http://www.w3.org/2000/svg";
const MOST_SHOWN = 4_000; // characters of one text; a hostile log may hold millions

/** An element with attributes (false, null and undefined are left out; functions listen) and children. */
export function make(name, attributes = {}, ...children) {
  return dressed(document.createElement(name), attributes, children);
}

/** The same for a drawing. */
export function draw(name, attributes = {}, ...children) {
  return dressed(document.createElementNS(SVG_SPACE, name), attributes, children);
}

function dressed(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") made.addEventListener(key, value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Any value as text of bounded length. */
export function text(value) {
  const whole = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return whole.length > MOST_SHOWN ? `${whole.slice(0, MOST_SHOWN)} … (${whole.length} characters)` : whole;
}

/** A name from outside, kept from turning the line around it. */
export function nameOf(words) {
  return make("bdi", {}, text(words));
}

/** Sets the text of an element only when it differs, so that nothing is announced or laid out twice. */
export function say(place, words) {
  if (place.textContent !== words) place.textContent = words;
}

/** A table in a frame of its own that scrolls. `head` are texts, `rows` lists of texts or elements, the first a header. */
export function tableOf(caption, head, rows, { numbers = [] } = {}) {
  const side = (place) => (numbers.includes(place) ? "number" : null);
  const top = make("tr", {}, head.map((one, place) => make("th", { scope: "col", class: side(place) }, one)));
  const body = rows.map((row) =>
    make("tr", {}, row.map((cell, place) =>
      place === 0 ? make("th", { scope: "row", class: side(0) }, cell) : make("td", { class: side(place) }, cell))));
  return make("div", { class: "table", role: "region", tabindex: 0, "aria-label": caption },
    make("table", {}, make("caption", {}, caption), make("thead", {}, top), make("tbody", {}, body)));
}
