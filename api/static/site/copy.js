// Texts to take away: a button beside each that puts it on the clipboard.
import { element } from "./dom.js";

const SHOWN_MS = 2_000;

/** The text in a frame with a button that copies it; `name` tells what it is. */
export function copied(text, name, { block = false } = {}) {
  const shown = block ? element("pre", { tabindex: 0 }, element("code", {}, text)) : element("code", {}, text);
  const button = element("button", { type: "button", "aria-label": `Copy ${name}` }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await put(text, shown)) ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
  });
  return element("div", { class: "copied" }, shown, button);
}

/** Where a page may not write to the clipboard the text is selected, ready to be copied by hand. */
async function put(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(shown);
    return false;
  }
}
