// An event's pages, live: how far it is, its table, its newest results; and what its organiser may do.
import { element } from "./dom.js";
import { follow, markLive } from "./live.js";
import { localMoments } from "./moments.js";
import { token } from "./session.js";
import { count, state } from "./tournament-figures.js";
import { newest } from "./tournament-newest.js";
import { standings } from "./tournament-table.js";

const BARS_MS = 60_000; // error bars are dear: asked for as seldom as that
const END_MS = 6_000; // all who watch do not ask at once when an event ends
const TRIES = 5;
const OVER = ["finished", "cancelled"];

const head = document.querySelector("[data-event]");
const id = head.dataset.event;
const first = !new URLSearchParams(location.search).has("page");
const table = first ? standings() : null;
const results = newest(id, ask);
let seq = table?.terms.seq ?? 0;
let caughtUp = false;
let barsTimer = 0;
let stop = () => {};

if (!OVER.includes(head.dataset.status)) {
  results?.know(table?.names() ?? new Map());
  const told = { progress: showProgress, standings: showStandings, match: (match) => results?.add(match), end: finish };
  stop = follow(`/api/v1/tournaments/${id}/events`, told, { poll });
}
const tab = document.querySelector(".tabs [aria-current]");
tab.closest("nav").scrollLeft = tab.offsetLeft - 40; // on a phone it may be out of sight
if (token()) import("./tournament-organise.js").then(({ begin }) => begin(head));

/** Reads from the API as anybody may. */
async function ask(path) {
  const answer = await fetch(`/api/v1${path}`, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.json();
}

async function poll() {
  const event = await ask(`/tournaments/${id}`);
  showProgress({ ...event.progress, status: event.status, reason: event.status_reason });
  if (table) await readTable();
  await results?.renew();
  if (OVER.includes(event.status)) {
    stop();
    markLive("over");
  }
}

function showProgress(told) {
  const began = head.dataset.status !== told.status && !head.querySelector(".how-far") && told.status === "running";
  if (head.dataset.status !== told.status) {
    head.dataset.status = told.status;
    head.querySelector("[data-state]").replaceChildren(element("span", { class: `state state-${told.status}` }, state(told.status)));
    document.dispatchEvent(new CustomEvent("event-state"));
  }
  const reason = head.querySelector("[data-reason]");
  reason.hidden = !told.reason;
  reason.querySelector("bdi").textContent = began ? "It has begun: load this page again." : told.reason ?? "";
  if (began) reason.hidden = false;
  const bar = head.querySelector("progress");
  const figures = head.querySelector(".figures");
  if (!figures) return;
  figures.textContent = bar ? `${count(told.done)} of ${count(told.total)}` : count(told.done);
  if (bar) {
    bar.max = Math.max(told.total, 1);
    bar.value = told.done;
  }
  const stage = head.querySelector('[data-field="stage"]');
  if (told.stage) stage.textContent = stage.textContent.replace(/\d+/, told.stage) || `stage ${told.stage}`;
  const ends = head.querySelector("[data-ends]");
  ends.hidden = !told.estimated_end;
  if (told.estimated_end) {
    ends.querySelector("time").dateTime = told.estimated_end;
    localMoments(ends);
  }
}

function showStandings(told) {
  if (!table || told.as_of_seq === null) return;
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
  const told = await ask(`/tournaments/${id}/standings?limit=50`);
  if (told.as_of_seq < seq) return false;
  seq = told.as_of_seq;
  table.show(told.items, { bars: true });
  if (table.terms.standIn) {
    const { items } = await ask(`/tournaments/${id}/entries?limit=100&preflight=absent`);
    table.showStandIns(new Set(items.filter((one) => one.stand_in).map((one) => one.bot)));
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
