// Provide what a narrow window needs: a button that opens the options as a sheet, and swipes that step.

import { make } from "./dom.js";

const SWIPE_PX = 40; // shortest swipe

/** Create the button that shows and hides `options` where the window is too narrow to show them always. */
export function moreButton(options) {
  const set = (open) => {
    options.classList.toggle("open", open);
    button.setAttribute("aria-expanded", String(open));
  };
  const button = make("button", { type: "button", class: "small more", "aria-label": "Options", "aria-expanded": "false",
    click: () => set(!options.classList.contains("open")) }, "⋯");
  for (const place of [button, options]) {
    place.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !options.classList.contains("open")) return;
      set(false);
      button.focus();
    });
  }
  options.addEventListener("change", () => set(false));
  return button;
}

/** Call `step(1)` when a finger swipes over `element` to the left, and `step(-1)` when it swipes to the right. */
export function followSwipes(element, step) {
  let start = null;
  element.addEventListener("touchstart", ({ touches }) => {
    start = touches.length === 1 ? { x: touches[0].clientX, y: touches[0].clientY } : null;
  }, { passive: true });
  element.addEventListener("touchend", ({ changedTouches: [end] }) => {
    if (!start) return;
    const [across, along] = [end.clientX - start.x, end.clientY - start.y];
    start = null;
    if (Math.abs(across) >= SWIPE_PX && Math.abs(across) > 2 * Math.abs(along)) step(across < 0 ? 1 : -1);
  }, { passive: true });
}
