// Update a page in place with a new rendering from the server. Callers decide when.
import { focusHeld } from "./dom.js";
import { markLive } from "./live_mark.js";
import { localMoments } from "./local_time.js";

const EVERY_MS = 5_000; // least interval between renderings
const REST_FACTOR = 20; // the next request waits for this many times the duration of the last, to spare a busy server
const APART_MS = 2_000; // random delay, so that clients do not all ask at the same time
const AGAIN_MS = 1_000; // retry interval while the reader is busy
const TIMEOUT_MS = 30_000;
const PERIOD_MS = 30_000; // between two renderings of a page that renews itself
const SPREAD_MS = 10_000; // random part of each such period

const OWN = "[data-own]"; // parts that stay as they are: a script updates them, or the reader fills them in
const UNTOUCHED = `${OWN}, [data-live], [data-filled], dialog, noscript`;
const KEPT = ["hidden", "open"]; // attributes that scripts or readers may have set on the page

/**
 * Return an object whose `ask()` updates this page soon: at most once in `everyMs`, and not while it is hidden or its reader
 * is filling in a form, selecting text or using a dialog. Call `renewed(fresh)` with the new document after each update.
 * Report after each request to `onState` whether the service answered: "renewed" or "away".
 */
export function renewal({ everyMs = EVERY_MS, renewed = () => {}, onState = () => {} } = {}) {
  let wanted = false;
  let timer = 0;
  let earliest = 0;
  let typed = null;

  const isBusy = () => Boolean(typed?.isConnected) || isHeld();
  const plan = (wait) => {
    timer ||= setTimeout(renew, Math.max(wait, earliest - performance.now()));
  };
  const renew = async () => {
    try {
      if (!document.hidden && !isBusy()) await once();
    } finally {
      timer = 0;
    }
    if (wanted && !document.hidden) plan(AGAIN_MS);
  };
  const once = async () => {
    wanted = false;
    const began = performance.now();
    const fresh = await rendered().catch(() => undefined);
    earliest = performance.now() + Math.max(everyMs, REST_FACTOR * (performance.now() - began));
    onState(fresh === undefined ? "away" : "renewed");
    if (fresh === undefined || (fresh && isBusy())) wanted = true;
    else if (fresh) show(fresh, renewed);
  };

  document.addEventListener("input", ({ target }) => {
    if (!target.closest(`dialog, ${OWN}`)) typed = target.form ?? typed; // an open dialog counts as busy anyway
  });
  document.addEventListener("submit", () => (typed = null));
  document.addEventListener("visibilitychange", () => wanted && !document.hidden && plan(0));
  return {
    ask() {
      wanted = true;
      if (!document.hidden) plan(APART_MS * Math.random());
    },
  };
}

/** Update this page every 30 to 40 s while it is visible, and mark whether that works. Call `renewed` as `renewal` does. */
export function renewRegularly(renewed) {
  const page = renewal({ everyMs: PERIOD_MS, renewed, onState: markLive });
  const again = () => {
    setTimeout(again, PERIOD_MS + SPREAD_MS * Math.random());
    page.ask();
  };
  markLive("renewed");
  setTimeout(again, PERIOD_MS + SPREAD_MS * Math.random());
}

/**
 * Resolve to this page as the server renders it now, for the account of the token if there is one, or to null if it
 * refuses. Reject if it is unavailable.
 */
export function rendered(token = null) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(); // parses the document without running its scripts
    request.open("GET", location.href);
    request.setRequestHeader("Accept", "text/html");
    if (token) request.setRequestHeader("Authorization", `Bearer ${token}`);
    request.responseType = "document";
    request.timeout = TIMEOUT_MS;
    request.onload = () => {
      if (request.status >= 500 || request.status === 429) reject();
      else resolve(request.status === 200 ? request.response : null);
    };
    request.onerror = request.ontimeout = reject;
    request.send();
  });
}

function show(fresh, renewed) {
  const held = focusHeld();
  const main = fresh.getElementById("main");
  localMoments(main);
  document.title = fresh.title;
  bring(document.getElementById("main"), main);
  renewed(fresh);
  held();
}

/** Return whether an update would disturb the reader. Updates do not touch parts that scripts update themselves. */
function isHeld() {
  const field = document.activeElement?.closest("input, select, textarea");
  const selected = getSelection().isCollapsed ? null : getSelection().anchorNode.parentElement;
  return [field, selected, ...document.querySelectorAll("dialog[open]")].some((part) => part && !part.closest(OWN));
}

/** Make `old` equal to `fresh` without touching equal parts, which keep their focus, scroll position and listeners. */
function bring(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
  } else if (!old.matches(UNTOUCHED) && !old.isEqualNode(fresh)) {
    bringAttributes(old, fresh);
    bringChildren(old, fresh);
  }
}

function bringAttributes(old, fresh) {
  for (const { name } of [...old.attributes]) {
    if (!KEPT.includes(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (!KEPT.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

function bringChildren(old, fresh) {
  const there = [...old.childNodes];
  const pairs = [...fresh.childNodes].map((child) => {
    const at = there.findIndex((node) => keyOf(node) === keyOf(child));
    return [at < 0 ? null : there.splice(at, 1)[0], child];
  });
  for (const gone of there) gone.remove();
  let place = old.firstChild;
  for (const [mine, child] of pairs) {
    if (mine === null) old.insertBefore(child, place);
    else if (mine === place) place = place.nextSibling;
    else old.insertBefore(mine, place);
    if (mine !== null) bring(mine, child);
  }
}

/** Return a key that identifies a node among its siblings. Items of lists are identified by their first link. */
function keyOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
  const line = node.matches("li, tr") ? node.querySelector("a")?.getAttribute("href") : null;
  return `${node.nodeName} ${node.id || line || node.getAttribute("class")}`;
}
