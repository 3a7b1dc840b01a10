// Making elements. Everything that is shown is text; nothing is ever read as markup.

/** An element with attributes (false and null are left out) and children (elements or text). */
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

/** A copy of the only element in the `<template>` with this id. */
export function copyOf(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

/** Puts `values` {name: text} into the elements under `root` that carry `data-field="name"`. */
export function fill(root, values) {
  for (const [name, value] of Object.entries(values)) {
    for (const field of root.querySelectorAll(`[data-field="${name}"]`)) {
      const text = String(value ?? "–");
      if (field.textContent !== text) field.textContent = text;
    }
  }
}
