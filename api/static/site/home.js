// The first page: what is played now, kept up to date.
import { copyOf, fill } from "./dom.js";
import { follow } from "./live.js";
import { localMoments } from "./local_time.js";
import { renewal } from "./renewal.js";

const EVERY_MS = 20_000; // more read this page than any other

const page = renewal({ everyMs: EVERY_MS });
const matches = document.getElementById("live-matches");
matches.dataset.own = "";
const noMatch = document.getElementById("no-match");

const title = (game) => game.split("-").map((word) => word[0].toUpperCase() + word.slice(1)).join(" ");

/** Matches come and go in their order; a card that stays is left alone, so that nothing jumps under a finger. */
function showMatches(found) {
  const old = new Map([...matches.children].map((card) => [card.dataset.match, card]));
  const cards = found.map((match) => old.get(match.id) ?? cardOf(match));
  const same = cards.length === matches.children.length && cards.every((card, at) => card === matches.children[at]);
  if (!same) matches.replaceChildren(...cards);
  noMatch.hidden = found.length > 0;
}

function cardOf(match) {
  const card = copyOf("match-card");
  const field = (name) => card.querySelector(`[data-field="${name}"]`);
  card.dataset.match = match.id;
  field("link").href = `/matches/${encodeURIComponent(match.id)}`;
  field("game").textContent = title(match.game);
  field("kind").textContent = ratedLabel(match);
  for (const seat of match.seats) {
    const place = document.createElement("li");
    const name = document.createElement("bdi");
    name.textContent = seat.name ?? `Seat ${seat.seat}`;
    place.append(name);
    field("seats").append(place);
  }
  field("since").dateTime = match.started_at ?? "";
  localMoments(card);
  return card;
}

/** Return a label that says whether a match is rated or why not, the same as in words.py. */
function ratedLabel({ rated, unrated_reason: why }) {
  if (rated) return "rated";
  return why === "friendly" ? why : `unrated: ${why.replaceAll("_", " ")}`;
}

const count = (number) => number.toLocaleString("en").replaceAll(",", "\u202f");

/** Events that run move on; when others run than are shown, or others are open, the page is rendered anew. */
function showEvents(found, open) {
  const cards = [...document.querySelectorAll("[data-event]")];
  for (const event of found) {
    const bar = cards.find((card) => card.dataset.event === event.id)?.querySelector("progress");
    if (bar) move(bar, event.progress);
    else if (event.progress.total) page.ask();
  }
  const shown = cards.filter((card) => card.dataset.status !== "open").map((card) => `${card.dataset.event} ${card.dataset.status}`);
  const running = found.map((event) => `${event.id} ${event.status}`);
  const isSame = shown.sort().join() === running.sort().join() && document.querySelector("[data-open]").dataset.open === String(open);
  if (!isSame) page.ask();
}

function move(bar, { done, total }) {
  bar.max = Math.max(total, 1);
  bar.value = done;
  const figures = bar.closest(".progress").querySelector(".figures");
  const text = `${count(done)} of ${count(total)}`;
  if (figures.textContent !== text) figures.textContent = text;
}

function show(now) {
  if (document.querySelector("[data-field=played]").textContent !== count(now.counts.results)) page.ask();
  showMatches(now.matches);
  showEvents(now.tournaments, now.counts.open);
  fill(document, { running: count(now.counts.running), waiting: count(now.counts.waiting), played: count(now.counts.results) });
}

follow("/api/v1/events", { now: show }, {
  poll: async () => {
    const answer = await fetch("/api/v1/now", { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.json());
  },
});
