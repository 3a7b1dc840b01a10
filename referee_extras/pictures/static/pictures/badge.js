// Put a button that copies beside each text that the page offers for other pages.
import { copied } from "../site/copy.js";

for (const shown of document.querySelectorAll("pre[data-copy]")) {
  shown.replaceWith(copied(shown.textContent, shown.dataset.copy, { block: true }));
}
