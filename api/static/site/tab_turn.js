// Decide which tab of a browser holds streams. A browser opens six connections to a site, and a stream occupies one for long.

const UNSEEN_MS = 20_000; // a tab that is hidden for longer gives its turn back
const APART_MS = 1_000; // random delay, so that several tabs in sight do not all claim a turn that was given back
const channel = new BroadcastChannel("referee.streams"); // reaches the other tabs of this site in the same browser
const HERE_MS = 10_000; // between two signs of the tab whose turn it is
const SILENT_MS = 25_000; // without a sign in this time, that tab was closed without giving its turn back
const SETTLED_MS = 200; // in which claims may cross; then the higher number wins
const RELEASE = "release";
const HERE = Infinity; // higher than any claim
const followers = new Set();
let ours = false; // whether it is the turn of this tab
let claim = 0; // number of a claim that may still cross with another one
let unseen = 0;
let wait = 0;

/**
 * Call `take()` when this tab is visible and was looked at last, `yieldTurn()` when another tab was looked at since or this
 * one was hidden for long; both may be called repeatedly. Return a function that ends this.
 */
export function shareTurns(take, yieldTurn) {
  const follower = { take, yieldTurn };
  followers.add(follower);
  look();
  return () => {
    followers.delete(follower);
    if (!followers.size) release();
  };
}

/** Give the turn back, so that another visible tab takes it. */
function release() {
  if (!ours) return;
  lose();
  channel.postMessage(RELEASE);
}

function lose() {
  ours = false;
  for (const { yieldTurn } of [...followers]) yieldTurn();
}

function look() {
  clearTimeout(unseen);
  clearTimeout(wait);
  if (!followers.size) return;
  if (document.hidden) {
    unseen = setTimeout(release, UNSEEN_MS);
    return;
  }
  if (!ours) {
    claim = Math.random();
    channel.postMessage(claim);
    setTimeout(() => (claim = 0), SETTLED_MS);
  }
  ours = true;
  for (const { take } of [...followers]) take();
}

channel.onmessage = ({ data }) => {
  clearTimeout(wait);
  if (data === RELEASE) {
    wait = setTimeout(look, APART_MS * Math.random());
  } else if (ours && claim > data) {
    channel.postMessage(claim); // the other tab may not have heard it
  } else {
    if (ours) lose();
    wait = setTimeout(look, SILENT_MS + APART_MS * Math.random());
  }
};
setInterval(() => ours && channel.postMessage(HERE), HERE_MS);
document.addEventListener("visibilitychange", look);
window.addEventListener("focus", look);
window.addEventListener("pagehide", () => {
  if (ours) channel.postMessage(RELEASE);
  ours = false;
});
window.addEventListener("pageshow", ({ persisted }) => persisted && look());
