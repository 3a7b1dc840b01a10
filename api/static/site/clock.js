// Count down to the start of a tournament or of its next round by the clock of the service.

const TICK_MS = 1_000;
let timer = 0; // there is one clock on a page

/**
 * Show in `place` the time left until `data-until`. `data-now` is the time of the service when it rendered the page; the
 * clock of this computer may be wrong. Without `place`, stop.
 */
export function clockTo(place) {
  clearInterval(timer);
  if (!place) return;
  const ahead = Date.parse(place.dataset.now) - Date.now();
  const tick = () => {
    const left = Math.ceil((Date.parse(place.dataset.until) - Date.now() - ahead) / 1000);
    place.textContent = left > 0 ? (place.dataset.before ?? "Starts in ") : (place.dataset.after ?? "About to start");
    if (left <= 0) return;
    const figures = document.createElement("b");
    figures.className = "left";
    figures.textContent = inWords(left);
    place.append(figures);
  };
  timer = setInterval(tick, TICK_MS);
  tick();
}

/** Return seconds as 4:05, 1:04:05 or 2 d 3:04:05. */
function inWords(seconds) {
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60];
  const two = (number) => String(number).padStart(2, "0");
  const clock = `${days || hours ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
  return days ? `${days} d ${clock}` : clock;
}
