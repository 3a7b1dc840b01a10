// Create buttons with icons.

import { draw, make } from "./dom.js";

const SHAPES = {
  first: "M5 4h2v16H5zM20 4v16L8 12z",
  "decision-back": "M12 4v16L3 12zM21 4v16l-9-8z",
  back: "M17 4v16L6 12z",
  play: "M6 3l15 9L6 21z",
  pause: "M5 4h5v16H5zM14 4h5v16h-5z",
  forward: "M7 4l11 8-11 8z",
  "decision-forward": "M3 4l9 8-9 8zM12 4l9 8-9 8z",
  last: "M17 4h2v16h-2zM4 4l12 8-12 8z",
};

/** Create a button with an icon. The label is also its tooltip. */
export function signButton(sign, label, onClick) {
  return make("button", { type: "button", class: "sign", "aria-label": label, title: label, click: onClick }, signOf(sign));
}

/** Create an icon. */
export function signOf(sign) {
  return draw("svg", { viewBox: "0 0 24 24", width: 22, height: 22, "aria-hidden": "true", focusable: "false" },
    draw("path", { d: SHAPES[sign] }));
}
