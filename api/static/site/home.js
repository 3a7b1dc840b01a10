// Keep the home page up to date, and play its featured match.
import { relativeMoments } from "./relative_time.js";
import { renewRegularly } from "./renewal.js";

const MINUTE_MS = 60_000;
let featured = null; // what plays the featured match, once it is loaded

/** Fetch what plays the featured match, once the page names one. Without it, the match is only named. */
function play() {
  const place = document.getElementById("featured");
  if (!place || featured) return;
  featured = { take() {} };
  import("./featured.js").then(async ({ Featured }) => {
    const found = new Featured(place);
    await found.begin();
    featured = found;
  }).catch(() => {});
}

renewRegularly((fresh) => {
  relativeMoments(document);
  featured?.take(fresh);
  play();
});
setInterval(() => relativeMoments(document), MINUTE_MS);
relativeMoments(document);

if (document.readyState === "complete") play();
else addEventListener("load", play);
