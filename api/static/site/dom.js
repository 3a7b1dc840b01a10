// Create elements. Values are always inserted as text, never parsed as markup.

/** Return an element with attributes (without those that are false or null) and children (elements or text). */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Return the element with this id. */
export const byId = (id) => document.getElementById(id);

/** Return a copy of the only element in the `<template>` with this id. */
export function copyOf(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

/** Set the text of the elements under `root` with `data-field="name"` from `values` {name: text}. */
export function fill(root, values) {
  for (const [name, value] of Object.entries(values)) {
    for (const field of root.querySelectorAll(`[data-field="${name}"]`)) {
      const text = String(value ?? "–");
      if (field.textContent !== text) field.textContent = text;
    }
  }
}

const HIGHLIGHT_MS = 2_500;

/** Highlight an element for a moment, without an animation, which would keep a busy page drawing all the time. */
export function highlight(shown) {
  shown.classList.add("changed");
  setTimeout(() => shown.classList.remove("changed"), HIGHLIGHT_MS);
}

/** Remember the focused element. Return a function that focuses it again unless something visible has the focus. */
export function focusHeld() {
  const before = document.activeElement;
  return () => {
    const now = document.activeElement;
    const lost = [document.body, document.getElementById("main"), before, null].includes(now) || !now.checkVisibility();
    if (lost && before?.isConnected) before.focus({ preventScroll: true });
  };
}
