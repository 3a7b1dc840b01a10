// Create texts with a button that copies them to the clipboard.
import { element } from "./dom.js";

const SHOWN_MS = 2_000;

/** Return an element with the text and a button that copies it; `name` describes it for screen readers. */
export function copied(text, name, { block = false } = {}) {
  const shown = block ? element("pre", { tabindex: 0 }, element("code", {}, text)) : element("code", {}, text);
  const button = element("button", { type: "button", "aria-label": `Copy ${name}` }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await put(text, shown)) ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
  });
  return element("div", { class: "copied" }, shown, button);
}

/** Copy the text. If the browser refuses, select it instead and return false. */
async function put(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(shown);
    return false;
  }
}
