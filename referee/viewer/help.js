// Show the keys of the viewer in a dialog.

import { make } from "./dom.js";

/** Return the dialog. `keys` are lists of a key, its sign and its words; `enabled()` and `enable(on)` concern letters. */
export function helpDialog(keys, { enabled, enable }) {
  const rows = keys.map(([, sign, words]) => [make("dt", {}, make("kbd", {}, sign)), make("dd", {}, words)]).flat();
  const single = make("input", { type: "checkbox", checked: enabled(), change: () => enable(single.checked) });
  return make("dialog", { class: "keys", "aria-label": "Keys" }, make("h2", {}, "Keys"),
    make("dl", { class: "facts" }, rows, make("dt", {}, make("kbd", {}, "?")), make("dd", {}, "this help")),
    make("p", {}, make("label", { class: "look" }, single, " Enable single-key shortcuts")),
    make("p", {}, "Click the graph or an event to go there. A link that ends in ", make("code", {}, "#d17"), " opens decision 17. The address names the event that is shown, so that reloading the page returns to it."),
    make("form", { method: "dialog" }, make("button", {}, "Close")));
}
