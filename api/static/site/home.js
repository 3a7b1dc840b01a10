// Update the home page: matches and counts from the stream, the rest by rendering the page again.
import { copyOf, element, fill } from "./dom.js";
import { emblem } from "./emblem.js";
import { count, gameName, moveProgress } from "./figures.js";
import { ratedLabel } from "./labels.js";
import { follow } from "./live.js";
import { localMoments } from "./local_time.js";
import { readPublic } from "./public.js";
import { relativeMoments } from "./relative_time.js";
import { renewal } from "./renewal.js";

const EVERY_MS = 20_000; // rarely, since this page has the most readers
const MINUTE_MS = 60_000;

const page = renewal({ everyMs: EVERY_MS, renewed });
const counts = document.querySelector("[data-known]");
const matches = document.getElementById("live-matches");
let featured = null; // what plays the featured match, once it is loaded
matches.dataset.own = ""; // updated by this script: many matches are over within EVERY_MS

function renewed() {
  relativeMoments(document);
  play();
}

/** Show these matches in order. Leave the cards of games in place, so that nothing moves under the pointer. */
function showMatches(found) {
  const old = new Map([...matches.children].map((card) => [card.dataset.match, card]));
  const games = [...matches.children].map((card) => card.dataset.game);
  const place = ({ game }) => (games.includes(game) ? games.indexOf(game) : games.length);
  const cards = found.toSorted((one, other) => place(one) - place(other)).map((match) => showScores(old.get(match.id) ?? cardOf(match), match));
  const same = cards.length === matches.children.length && cards.every((card, at) => card === matches.children[at]);
  if (!same) matches.replaceChildren(...cards);
  document.getElementById("no-match").hidden = found.length > 0;
}

/** Return a card from the page's template, filled in. */
function cardOf(match) {
  const card = copyOf("match-card");
  const field = (name) => card.querySelector(`[data-field="${name}"]`);
  Object.assign(card.dataset, { match: match.id, game: match.game });
  field("link").href = `/matches/${encodeURIComponent(match.id)}`;
  fill(card, { game: gameName(match.game), kind: ratedLabel(match) });
  const names = match.seats.map(({ bot, name, seat }) => element("li", {}, name ? emblem(bot) : null, element("bdi", {}, name ?? `Seat ${seat + 1}`)));
  field("seats").append(...names);
  field("since").dateTime = match.started_at ?? "";
  localMoments(card);
  relativeMoments(card);
  return card;
}

/** Show the round and the scores of a match in its card, and return the card. */
function showScores(card, { round, scores }) {
  fill(card, { round });
  for (const [seat, line] of [...card.querySelectorAll("li")].entries()) {
    if (!scores) continue;
    if (!line.querySelector("meter")) line.append(element("b"), element("meter", { "aria-hidden": "true" }));
    const meter = line.querySelector("meter");
    Object.assign(meter, { min: Math.min(0, ...scores), max: Math.max(1, ...scores), value: scores[seat] });
    line.querySelector("b").textContent = count(scores[seat]);
  }
  return card;
}

/** Return, as text, the values that must not differ from `data-known`, which the server writes in the same form. */
function comparable({ tournaments, counts: { open, results } }) {
  return JSON.stringify([tournaments.map(({ id, status, progress }) => [id, status, progress.total > 0]), open, results]);
}

function show(now) {
  if (comparable(now) !== JSON.stringify(JSON.parse(counts.dataset.known))) page.ask();
  showMatches(now.matches);
  featured?.take(now.featured);
  for (const { id, progress } of now.tournaments) {
    const bar = document.querySelector(`[data-tournament="${id}"] .progress`);
    if (bar) moveProgress(bar, progress);
  }
  fill(counts, { running: count(now.counts.running), waiting: count(now.counts.waiting), played: count(now.counts.results) });
}

/** Fetch what plays the featured match, once the page names one. Without it, the match is only named. */
function play() {
  const place = document.getElementById("featured");
  if (!place || featured) return;
  featured = { take() {} };
  import("./featured.js").then(async ({ Featured }) => {
    const found = new Featured(place);
    await found.begin();
    featured = found;
  }).catch(() => {});
}

follow("/api/v1/stream", { now: show }, { poll: async () => show(await readPublic("/now")) });
setInterval(() => relativeMoments(document), MINUTE_MS);
relativeMoments(document);

if (document.readyState === "complete") play();
else addEventListener("load", play);
