// Show the options of the chosen game in forms that arrange a match, and read what was chosen.
import { element } from "./dom.js";
import { api } from "./session.js";

/**
 * Fill the form's part `[data-options]` with the options of its chosen game, each with its default. Return a function that
 * resolves to {game, options}: the game as the API describes it, and the options that differ from their defaults.
 */
export function gameOptions(form) {
  const place = form.querySelector("[data-options]");
  const choice = form.elements.game;
  let shown = null; // the game whose options are shown
  const show = async () => {
    const name = choice.value;
    if (shown?.name === name) return;
    const game = await api("GET", `/games/${encodeURIComponent(name)}`);
    if (choice.value !== name) return show();
    shown = game;
    place.hidden = false;
    place.replaceChildren(place.querySelector("summary"), ...game.options.map(field));
  };
  const tryToShow = () => show().catch(() => {}); // the form says what failed when it is sent
  choice.addEventListener("change", tryToShow);
  tryToShow();
  return async () => {
    await show();
    return { game: shown, options: Object.fromEntries(shown.options.flatMap((option) => chosen(place, option))) };
  };
}

/** Return the name and value of an option that differs from its default, otherwise nothing. */
function chosen(place, { name, type, default: usual }) {
  const inputs = [...place.querySelectorAll(`[name="options.${name}"]`)];
  const values = { bool: () => inputs[0].checked, list: () => inputs.filter(({ checked }) => checked).map(({ value }) => value), int: () => (inputs[0].value === "" ? usual : Number(inputs[0].value)), choice: () => inputs[0].value };
  const value = values[type]();
  return JSON.stringify(value) === JSON.stringify(usual) ? [] : [[name, value]];
}

function field({ name, type, default: usual, minimum, maximum, choices, help }) {
  const id = `option-${name}`;
  const words = name.replaceAll("_", " ");
  const label = words[0].toUpperCase() + words.slice(1);
  const given = { id, name: `options.${name}`, "aria-describedby": `${id}-hint`, "data-hint": `${id}-hint` };
  const hint = element("p", { class: "hint", id: `${id}-hint` }, type === "int" ? `${help}, ${minimum} to ${maximum}` : help);
  if (type === "bool") return element("div", {}, element("label", { for: id }, element("input", { ...given, type: "checkbox", checked: usual }), ` ${label}`), hint);
  if (type === "list") {
    const ticks = choices.map((key) => element("label", {}, element("input", { type: "checkbox", name: given.name, value: key, checked: usual.includes(key) }), ` ${key.replaceAll("_", " ")}`));
    return element("fieldset", {}, element("legend", {}, label), hint, ...ticks);
  }
  const input = type === "int" ? element("input", { ...given, type: "number", min: minimum, max: maximum, value: usual })
    : element("select", given, ...choices.map((key) => element("option", { value: key, selected: key === usual }, key.replaceAll("_", " "))));
  return element("div", {}, element("label", { for: id }, label), hint, input);
}
