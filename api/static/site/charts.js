// Draw charts of data that only its owner may see, in the style of api/pages/charts.
import { count } from "./figures.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640;
const HEIGHT = 230;
const LEFT = 66;
const RIGHT = 34;
const TOP = 14;
const BOTTOM = 46;
const GAP = 2;
const STACK_WIDTH = 640;
const STACK_HEIGHT = 18;

/** Return an SVG element with attributes and children. */
export function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

function drawing(width, height, title, kind, parts) {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: kind }, shape("title", {}, title), ...parts);
}

/** Return at most five round integers from 0 to `highest`. */
export function levels(highest) {
  const rough = Math.max(highest, 1) / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const apart = Math.max(1, unit * [1, 2, 5, 10].find((factor) => unit * factor >= rough * (1 - 1e-9)));
  return Array.from({ length: Math.floor(highest / apart) + 1 }, (_, at) => at * apart);
}

/** Return a histogram of `bins` [{name, number}]; labels name the beginnings of bins. */
export function histogram(bins, title) {
  const highest = Math.max(1, ...bins.map((bin) => bin.number));
  const x = (at) => LEFT + (at / bins.length) * (WIDTH - LEFT - RIGHT);
  const y = (number) => HEIGHT - BOTTOM - (number / highest) * (HEIGHT - BOTTOM - TOP);
  const parts = levels(highest).flatMap((number) => [
    shape("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(number), y2: y(number) }),
    shape("text", { x: LEFT - 8, y: y(number), dy: ".35em", "text-anchor": "end" }, count(number)),
  ]);
  const apart = Math.ceil(bins.length / 8);
  bins.forEach(({ name, number }, at) => {
    if (number) parts.push(shape("rect", { class: "bar", x: x(at) + GAP / 2, y: y(number), width: x(1) - x(0) - GAP, height: y(0) - y(number) }, shape("title", {}, `${name}: ${number}`)));
    if (at % apart === 0) parts.push(shape("text", { x: x(at), y: HEIGHT - 12, "text-anchor": "middle" }, name));
  });
  return drawing(WIDTH, HEIGHT, title, "histogram", parts);
}

/** Return a stacked bar of `parts` [{name, amount, colour}]. Leave out parts with amount 0. */
export function stackedBar(parts, title) {
  const some = parts.filter((part) => part.amount > 0);
  const whole = some.reduce((sum, part) => sum + part.amount, 0);
  let before = 0;
  const drawn = some.map((part, at) => {
    const width = (part.amount / whole) * STACK_WIDTH;
    const box = shape("rect", { x: before, y: 0, width: Math.max(width - (at < some.length - 1 ? GAP : 0), 0.5), height: STACK_HEIGHT }, shape("title", {}, part.name));
    before += width;
    return shape("g", { class: part.colour }, box);
  });
  const made = drawing(STACK_WIDTH, STACK_HEIGHT, title, "stacked", drawn);
  made.setAttribute("preserveAspectRatio", "none");
  return made;
}

/** Return a small square in the colour of a part, for a legend. */
export function swatch(colour) {
  return shape("svg", { viewBox: "0 0 12 12", class: "stacked swatch", "aria-hidden": "true" }, shape("g", { class: colour }, shape("rect", { width: 12, height: 12, rx: 2 })));
}
