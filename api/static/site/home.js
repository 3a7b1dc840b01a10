// The first page: what is played now, kept up to date.
import { copyOf } from "./dom.js";
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
  field("kind").textContent = match.rated ? "rated" : "friendly";
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

function showEvents(found) {
  for (const event of found) {
    const card = document.querySelector(`[data-event="${CSS.escape(event.id)}"]`);
    const bar = card?.querySelector("progress");
    if (!bar || !event.progress) continue;
    const { done, total } = event.progress;
    bar.max = Math.max(total, 1);
    bar.value = done;
    card.querySelector(".figures").textContent = `${done.toLocaleString("en").replaceAll(",", "\u202f")} of ${total.toLocaleString("en").replaceAll(",", "\u202f")}`;
  }
}

function show(now) {
  showMatches(now.matches);
  showEvents(now.tournaments);
}

follow("/api/v1/events", { now: show }, {
  poll: async () => {
    const answer = await fetch("/api/v1/now", { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.json());
  },
});
