// Draw the emblem of a bot, as api/pages/emblem.py does.
const SVG = "http://www.w3.org/2000/svg";
const SIZE = 5;
const HALF = 3;
const CELLS = SIZE * HALF;
const MIN_FILLED = 5;
const HUES = 12;

/** Return the emblem of the bot with this id, an SVG element that screen readers skip. */
export function emblem(bot) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 5 5");
  drawing.setAttribute("aria-hidden", "true");
  drawing.append(document.createElementNS(SVG, "path"));
  drawEmblem(drawing, bot);
  return drawing;
}

/** Turn an emblem into that of another bot. */
export function drawEmblem(drawing, bot) {
  const number = mix(bot);
  let cells = number & (2 ** CELLS - 1);
  if (filled(cells) < MIN_FILLED) cells ^= 2 ** CELLS - 1;
  let path = "";
  for (let y = 0; y < SIZE; y += 1) {
    for (let x = 0; x < SIZE; x += 1) {
      if ((cells >> (y * HALF + Math.min(x, SIZE - 1 - x))) & 1) path += `M${x} ${y}h1v1h-1z`;
    }
  }
  drawing.setAttribute("class", `emblem emblem-${(number >>> CELLS) % HUES}`);
  drawing.firstElementChild.setAttribute("d", path);
}

function filled(cells) {
  let count = 0;
  for (let at = 0; at < CELLS; at += 1) count += (cells >> at) & 1;
  return count;
}

function mix(bot) {
  let number = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(bot)) number = Math.imul(number ^ byte, 0x01000193) >>> 0;
  number = Math.imul(number ^ (number >>> 16), 0x85ebca6b) >>> 0;
  number = Math.imul(number ^ (number >>> 13), 0xc2b2ae35) >>> 0;
  return (number ^ (number >>> 16)) >>> 0;
}
