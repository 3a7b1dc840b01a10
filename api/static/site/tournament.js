// An event's pages, live: how far it is, its table, its newest results; and what its organiser may do.
import { fill } from "./dom.js";
import { count, moveProgress } from "./figures.js";
import { statePill } from "./labels.js";
import { follow, markLive, readPublic } from "./live.js";
import { localMoments } from "./local_time.js";
import { renewal } from "./renewal.js";
import { token } from "./session.js";
import { newest } from "./tournament-newest.js";
import { standings } from "./tournament-table.js";

const BARS_MS = 60_000; // error bars are dear: asked for as seldom as that
const END_MS = 6_000; // all who watch do not ask at once when an event ends
const TRIES = 5;
const OVER = ["finished", "cancelled"];

const head = document.querySelector("[data-event]");
const id = head.dataset.event;
const first = !new URLSearchParams(location.search).has("page");
const page = renewal({ renewed: findParts });
let table = null;
let results = null;
let newestTable = null; // as the stream told it last
let shown = ""; // how the event stood when the page was rendered
let seq = 0;
let caughtUp = false;
let barsTimer = 0;
let stop = () => {};

findParts();
if (!OVER.includes(head.dataset.status)) {
  const told = { progress: showProgress, standings: showStandings, match: (match) => results?.add(match), end: finish };
  stop = follow(`/api/v1/tournaments/${id}/stream`, told, { poll });
}
const tab = document.querySelector(".tabs [aria-current]");
tab.closest("nav").scrollLeft = tab.offsetLeft - 40; // on a phone it may be out of sight

/** Finds the parts of the page that have scripts; some of them come when the event begins. */
function findParts() {
  shown = asText(JSON.parse(head.dataset.known));
  results ??= newest(id);
  if (!table && first) {
    table = standings();
    seq = table?.terms.seq ?? 0;
    if (newestTable) showStandings(newestTable);
  }
  results?.know(table?.names() ?? new Map());
  if (token()) import("./tournament-organise.js").then(({ begin }) => begin(head));
}

async function poll() {
  const event = await readPublic(`/tournaments/${id}`);
  showProgress({ ...event.progress, status: event.status, reason: event.status_reason, entries: event.entries });
  if (table) await readTable();
  await results?.renew();
  if (OVER.includes(event.status)) {
    stop();
    markLive("over");
  }
}

function showProgress(told) {
  renew(told);
  if (head.dataset.status !== told.status) {
    head.dataset.status = told.status;
    head.querySelector("[data-state]").replaceChildren(statePill(told.status));
    document.dispatchEvent(new CustomEvent("event-state"));
  }
  const reason = head.querySelector("[data-reason]");
  reason.hidden = !told.reason;
  reason.querySelector("bdi").textContent = told.reason ?? "";
  const far = head.querySelector(".how-far");
  if (!far) return;
  const bar = far.querySelector(".progress");
  if (bar) moveProgress(bar, told);
  else fill(far, { far: count(told.done) });
  const stage = head.querySelector('[data-field="stage"]');
  if (told.stage) stage.textContent = stage.textContent.replace(/\d+/, told.stage) || `stage ${told.stage}`;
  const ends = head.querySelector("[data-ends]");
  ends.hidden = !told.estimated_end;
  if (told.estimated_end) {
    ends.querySelector("time").dateTime = told.estimated_end;
    localMoments(ends);
  }
}

/** Has the page rendered anew when something has changed that it shows and no message of the stream tells. */
function renew(told) {
  const before = shown;
  shown = asText(told);
  if (shown !== before && (!table || told.status !== head.dataset.status)) page.ask();
}

function asText({ status, reason, total, done, stage, stages, by_status: byStatus, entries }) {
  return JSON.stringify([status, reason, total, done, stage, stages, Object.entries(byStatus).sort(), Object.entries(entries).sort()]);
}

function showStandings(told) {
  newestTable = told;
  if (!table || told.as_of_seq === null || told.as_of_seq < seq) return;
  fill(document, { results: count(told.results) });
  if (told.as_of_seq > seq && !caughtUp) results?.renew().catch(() => {}); // what ended before the stream began
  caughtUp = true;
  table.show(told.items);
  results?.know(table.names());
  if (told.as_of_seq !== seq) barsTimer ||= setTimeout(renewBars, BARS_MS * (1 + Math.random() / 4));
  seq = told.as_of_seq;
}

async function renewBars() {
  barsTimer = 0;
  await readTable().catch(() => {});
}

/** The whole table with its error bars; whether it is as new as what the stream told. */
async function readTable() {
  const told = await readPublic(`/tournaments/${id}/standings?limit=50`);
  if (told.as_of_seq < seq) return false;
  seq = told.as_of_seq;
  table.show(told.items, { bars: true });
  if (table.terms.substitute) {
    const { items } = await readPublic(`/tournaments/${id}/entries?limit=100&preflight=absent`);
    table.showSubstitutes(new Set(items.filter((one) => one.substitute).map((one) => one.bot)));
  }
  return true;
}

function finish(told) {
  const last = told?.as_of_seq ?? seq;
  clearTimeout(barsTimer);
  const read = async (tries) => {
    const whole = await readTable().catch(() => false);
    if ((!whole || seq < last) && tries > 1) setTimeout(() => read(tries - 1), END_MS);
  };
  if (table) setTimeout(() => read(TRIES), END_MS * Math.random());
}
