// The first page: matches and figures follow the stream; when it shows other tournaments or results now, it is rendered anew.
import { copyOf, element, fill } from "./dom.js";
import { count, gameName, moveProgress } from "./figures.js";
import { ratedLabel } from "./labels.js";
import { follow, readPublic } from "./live.js";
import { localMoments } from "./local_time.js";
import { renewal } from "./renewal.js";

const EVERY_MS = 20_000; // more read this page than any other

const page = renewal({ everyMs: EVERY_MS });
const counts = document.querySelector("[data-known]");
const matches = document.getElementById("live-matches");
matches.dataset.own = ""; // updated by this script: many a match is over within EVERY_MS

/** Matches come and go in their order; a card that stays is left alone, so that nothing jumps under a finger. */
function showMatches(found) {
  const old = new Map([...matches.children].map((card) => [card.dataset.match, card]));
  const cards = found.map((match) => old.get(match.id) ?? cardOf(match));
  const same = cards.length === matches.children.length && cards.every((card, at) => card === matches.children[at]);
  if (!same) matches.replaceChildren(...cards);
  document.getElementById("no-match").hidden = found.length > 0;
}

/** The card of the page's own template, filled in. */
function cardOf(match) {
  const card = copyOf("match-card");
  const field = (name) => card.querySelector(`[data-field="${name}"]`);
  card.dataset.match = match.id;
  field("link").href = `/matches/${encodeURIComponent(match.id)}`;
  fill(card, { game: gameName(match.game), kind: ratedLabel(match) });
  const names = match.seats.map(({ name, seat }) => element("li", {}, element("bdi", {}, name ?? `Seat ${seat + 1}`)));
  field("seats").append(...names);
  field("since").dateTime = match.started_at ?? "";
  localMoments(card);
  return card;
}

/** Return as text what the page shows of `now` that is rendered anew; the server writes the same into `data-known`. */
function outline({ tournaments, counts: { open, results } }) {
  return JSON.stringify([tournaments.map(({ id, status, progress }) => [id, status, progress.total > 0]), open, results]);
}

function show(now) {
  if (outline(now) !== JSON.stringify(JSON.parse(counts.dataset.known))) page.ask();
  showMatches(now.matches);
  for (const { id, progress } of now.tournaments) {
    const bar = document.querySelector(`[data-event="${id}"] .progress`);
    if (bar) moveProgress(bar, progress);
  }
  fill(counts, { running: count(now.counts.running), waiting: count(now.counts.waiting), played: count(now.counts.results) });
}

follow("/api/v1/stream", { now: show }, { poll: async () => show(await readPublic("/now")) });
