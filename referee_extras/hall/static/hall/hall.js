// Show the parts of a hall view one after the other, on a screen that nobody touches.
import { clockTo } from "../site/clock.js";
import { featureTables } from "./hall_table.js";
import { paginate, showPage } from "./hall_rows.js";
import { follow } from "../site/live.js";
import { localMoments } from "../site/local_time.js";
import { readPublic } from "../site/public.js";
import { renewal } from "../site/renewal.js";

const PART_MS = 20_000;
const PAGE_MS = 12_000; // of a part with several pages of rows
const TABLE_MS = 60_000;
const ENDING_MS = 2_000; // after which to look again whether the end of a match has been shown
const FIRST_LOOK_MS = 3_000; // after which a table is fetched, when the page has loaded what it shows first
const IDLE_MS = 4_000; // after which pointer and buttons are hidden

const root = document.documentElement;
const controls = document.querySelector(".hall-controls");
const tournament = document.querySelector("[data-tournament]").dataset.tournament;
const tables = featureTables(tournament, document.getElementById("part-table"), { changed: arrange });
const page = renewal({ renewed: rendered });
let at = { part: "", page: 0 };
let steps = []; // {part, page} in order
let timer = 0;
let idle = 0;
let paused = false;
let unfollow = () => {};
let mayLook = false;

const ACTIONS = {
  back: () => move(-1),
  on: () => move(1),
  stop: () => {
    paused = !paused;
    controls.querySelector("[data-do=stop]").textContent = paused ? "Resume" : "Pause";
    schedule();
  },
  full: async () => {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await root.requestFullscreen().catch(() => {}); // the browser may refuse
  },
};
const KEYS = { " ": "stop", ArrowLeft: "back", ArrowRight: "on", ArrowUp: "back", ArrowDown: "on", f: "full", F: "full" };

controls.hidden = false;
controls.querySelector("[data-do=full]").hidden = !document.fullscreenEnabled;
controls.addEventListener("click", ({ target }) => ACTIONS[target.dataset.do]?.());
addEventListener("keydown", press, { capture: true }); // before the viewer, which has keys of its own
for (const kind of ["pointermove", "keydown", "focusin"]) addEventListener(kind, showControls);
addEventListener("resize", arrange);
addEventListener("visibilitychange", stayAwake);
stayAwake();
showControls();
rendered();
followTournament();
setTimeout(() => {
  mayLook = true;
  tables.look();
}, FIRST_LOOK_MS);

function followTournament() {
  const over = () => document.querySelector("[data-over]").dataset.over === "yes";
  if (over()) return;
  const changed = () => page.ask();
  const poll = async () => {
    await readPublic(`/tournaments/${tournament}`);
    changed();
    if (over()) unfollow();
  };
  unfollow = follow(`/api/v1/tournaments/${tournament}/stream`, { progress: changed, standings: changed, match: changed, end: changed }, { poll });
}

/** Use a new rendering of the page: start the clock and look for a table to show. */
function rendered() {
  clockTo(document.querySelector("[data-until]"));
  localMoments(document);
  if (mayLook) tables.look();
  arrange();
}

/** Divide the parts into pages that fit the screen, and stay at the step that is shown if it is still there. */
function arrange() {
  const parts = [...document.querySelectorAll(".part:not([hidden])")];
  steps = parts.flatMap((part) => Array.from({ length: paginate(part) }, (_, number) => ({ part: part.dataset.part, page: number })));
  const before = at;
  const same = steps.filter(({ part }) => part === at.part);
  at = same.find((step) => step.page === at.page) ?? same.at(-1) ?? steps[0];
  show();
  if (at.part !== before.part || !timer) schedule();
}

function show() {
  for (const part of document.querySelectorAll(".part")) {
    const shown = part.dataset.part === at.part;
    part.toggleAttribute("data-shown", shown);
    showPage(part, shown ? at.page : 0);
  }
}

function move(direction) {
  const place = steps.findIndex(({ part, page: number }) => part === at.part && number === at.page);
  at = steps[(place + direction + steps.length) % steps.length];
  show();
  schedule();
}

function schedule() {
  clearTimeout(timer);
  timer = paused ? 0 : setTimeout(advance, duration());
}

/** Go on, but not while the end of a match is shown. */
function advance() {
  if (at.part === "table" && tables.isEnding()) timer = setTimeout(advance, ENDING_MS);
  else move(1);
}

function duration() {
  if (at.part === "table") return TABLE_MS;
  return steps.filter(({ part }) => part === at.part).length > 1 ? PAGE_MS : PART_MS;
}

function press(event) {
  const act = ACTIONS[KEYS[event.key]];
  const onButton = event.key === " " && event.target.closest?.("button, a");
  if (!act || onButton || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  showControls();
  act();
}

function showControls() {
  delete root.dataset.idle;
  clearTimeout(idle);
  idle = setTimeout(() => {
    if (!controls.contains(document.activeElement)) root.dataset.idle = "";
  }, IDLE_MS);
}

/** Keep the screen on. The browser drops the lock when the page is hidden. */
async function stayAwake() {
  if (document.hidden) return;
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // the battery is low, or the page may not
  }
}
