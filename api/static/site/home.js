// The first page: what is played now, kept up to date.
import { copyOf, fill } from "./dom.js";
import { follow } from "./live.js";
import { localMoments } from "./moments.js";

const matches = document.getElementById("live-matches");
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

/** Whether it is rated, and why not; as words.py says it. */
function ratedLabel({ rated, unrated_reason: why }) {
  if (rated) return "rated";
  return why === "friendly" ? why : `unrated: ${why.replaceAll("_", " ")}`;
}

const count = (number) => number.toLocaleString("en").replaceAll(",", "\u202f");

/** Events that run move on, one that begins comes first; one that is over stays with its last figures. */
function showEvents(found) {
  for (const event of found) {
    const card = document.querySelector(`[data-event="${CSS.escape(event.id)}"]`) ?? newEvent(event);
    const bar = card?.querySelector("progress");
    if (!bar) continue;
    const { done, total } = event.progress;
    bar.max = Math.max(total, 1);
    bar.value = done;
    const figures = card.querySelector(".figures");
    const text = `${count(done)} of ${count(total)}`;
    if (figures.textContent !== text) figures.textContent = text;
  }
}

function newEvent(event) {
  const list = document.getElementById("live-events");
  if (!list) return null; // nothing had been played when the page was made
  const card = copyOf("event-card");
  card.dataset.event = event.id;
  card.querySelector("a").href = `/tournaments/${encodeURIComponent(event.id)}`;
  fill(card, { name: event.name, game: title(event.game) });
  card.querySelector("progress").setAttribute("aria-label", `Matches played in ${event.name}`);
  list.prepend(card);
  return card;
}

function show(now) {
  showMatches(now.matches);
  showEvents(now.tournaments);
  fill(document, { running: count(now.counts.running), waiting: count(now.counts.waiting), played: count(now.counts.results) });
}

follow("/api/v1/events", { now: show }, {
  poll: async () => {
    const answer = await fetch("/api/v1/now", { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.json());
  },
});
