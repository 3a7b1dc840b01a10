// Update the pages of a tournament: progress, standings, newest results. Add the organiser's actions.
import { fill } from "./dom.js";
import { count, moveProgress } from "./figures.js";
import { clockTo } from "./clock.js";
import { statePill } from "./labels.js";
import { follow } from "./live.js";
import { markLive } from "./live_mark.js";
import { localMoments } from "./local_time.js";
import { readPublic } from "./public.js";
import { renewal } from "./renewal.js";
import { token } from "./session.js";
import { newest } from "./tournament-newest.js";
import { standings } from "./tournament-table.js";

const BARS_MS = 60_000; // error bars are expensive to compute
const END_MS = 6_000; // so that clients do not all ask at the same moment when a tournament ends
const TRIES = 5;
const OVER = ["finished", "cancelled"];

const head = document.querySelector("[data-tournament]");
const id = head.dataset.tournament;
const first = !new URLSearchParams(location.search).has("page");
const page = renewal({ renewed: findParts });
let table = null;
let results = null;
let newestStandings = null; // the last message of the stream
let shown = ""; // the state for which the page was rendered
let seq = 0;
let caughtUp = false;
let barsTimer = 0;
let stop = () => {};

findParts();
document.addEventListener("entries-changed", () => page.ask());
if (head.dataset.status !== "draft" && !OVER.includes(head.dataset.status)) { // nothing happens to a draft
  const handlers = { progress: showProgress, standings: showStandings, match: (match) => results?.add(match), end: finish };
  stop = follow(`/api/v1/tournaments/${id}/stream`, handlers, { poll });
}
const tab = document.querySelector(".tabs [aria-current]"); // null on a page whose tab is not offered, such as luck of own deals
if (tab) tab.closest("nav").scrollLeft = tab.offsetLeft - 40; // on a phone, the tab may be outside the visible part

/** Find the parts of the page that scripts update. Some appear only when the tournament starts. */
function findParts() {
  shown = asText(JSON.parse(head.dataset.known));
  results ??= newest(id);
  clockTo(document.querySelector(".clock[data-until]"));
  if (!table && first) {
    table = standings();
    seq = table?.terms.seq ?? 0;
    if (newestStandings) showStandings(newestStandings);
  }
  results?.know(table?.names() ?? new Map());
  if (token()) import("./tournament-organise.js").then(({ begin }) => begin(head));
}

async function poll() {
  const { progress, status, status_reason: reason, entries } = await readPublic(`/tournaments/${id}`);
  showProgress({ ...progress, status, reason, entries });
  if (table) await readTable();
  await results?.renew();
  if (OVER.includes(status)) {
    stop();
    markLive("over");
  }
}

function showProgress(message) {
  renew(message);
  if (head.dataset.status !== message.status) {
    head.dataset.status = message.status;
    head.querySelector("[data-state]").replaceChildren(statePill(message.status));
    document.dispatchEvent(new CustomEvent("tournament-state"));
  }
  const reason = head.querySelector("[data-reason]");
  reason.hidden = !message.reason;
  reason.querySelector("bdi").textContent = message.reason ?? "";
  const far = head.querySelector(".how-far");
  if (!far) return;
  moveProgress(far.querySelector(".progress"), message);
  const round = head.querySelector('[data-field="round"]');
  const number = message.tournament_round;
  if (number) round.textContent = round.textContent.replace(/\d+/, number) || `round ${number}`;
  const ends = head.querySelector("[data-ends]");
  ends.hidden = !message.estimated_end;
  if (message.estimated_end) {
    ends.querySelector("time").dateTime = message.estimated_end;
    localMoments(ends);
  }
}

/** Ask for a new rendering if values have changed that the page shows and this script does not update. */
function renew(message) {
  const before = shown;
  shown = asText(message);
  if (shown !== before && (!table || message.status !== head.dataset.status)) page.ask();
}

function asText({ status, reason, total, done, tournament_round: number, rounds, by_status: byStatus, entries }) {
  return JSON.stringify([status, reason, total, done, number, rounds, Object.entries(byStatus).sort(), Object.entries(entries).sort()]);
}

function showStandings(message) {
  newestStandings = message;
  if (!table || message.as_of_seq === null || message.as_of_seq < seq) return;
  fill(document, { results: count(message.results) });
  if (message.as_of_seq > seq && !caughtUp) results?.renew().catch(() => {}); // matches that ended before the stream began
  caughtUp = true;
  table.show(message.items);
  results?.know(table.names());
  if (message.as_of_seq !== seq) barsTimer ||= setTimeout(renewBars, BARS_MS * (1 + Math.random() / 4));
  seq = message.as_of_seq;
}

async function renewBars() {
  barsTimer = 0;
  await readTable().catch(() => {});
}

/** Read the standings with error bars and show them. Return false if they are older than those of the stream. */
async function readTable() {
  const page = await readPublic(`/tournaments/${id}/standings?limit=50`);
  if (page.as_of_seq < seq) return false;
  seq = page.as_of_seq;
  table.show(page.items, { bars: true });
  if (table.terms.substitute) {
    const { items } = await readPublic(`/tournaments/${id}/entries?limit=100&preflight=absent`);
    table.showSubstitutes(new Set(items.filter((entry) => entry.substitute).map((entry) => entry.bot)));
  }
  return true;
}

function finish(message) {
  const last = message?.as_of_seq ?? seq;
  clearTimeout(barsTimer);
  const read = async (tries) => {
    const whole = await readTable().catch(() => false);
    if ((!whole || seq < last) && tries > 1) setTimeout(() => read(tries - 1), END_MS);
  };
  if (table) setTimeout(() => read(TRIES), END_MS * Math.random());
}
