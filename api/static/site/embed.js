// Show a match in a frame of another site. Nothing is stored, and no token is used.
import { showMatch } from "./match_viewer.js";

const known = JSON.parse(document.getElementById("match").textContent);

await showMatch(document.getElementById("viewer"), known, {
  source: { addressed: false },
});
