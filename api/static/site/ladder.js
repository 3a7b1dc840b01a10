// Update a ladder: values change in place, and rows are sorted again only on request.
import { element, fill, highlight } from "./dom.js";
import { count, decimal, numberIn, signed } from "./figures.js";
import { follow } from "./live.js";
import { api } from "./session.js";

const LINES_POLLED = 100;
const known = JSON.parse(document.getElementById("known").textContent);
const moved = document.getElementById("moved");
const rows = new Map([...document.querySelectorAll("tr[data-bot]")].map((row) => [row.dataset.bot, row]));
let shownSeq = known.asOf;

/** Update the changed rows of the ladder that are on this page. */
function take({ as_of_seq: seq, items }) {
  if (seq <= shownSeq) return;
  shownSeq = seq;
  for (const line of items) {
    const row = rows.get(line.bot);
    if (row) show(row, line);
  }
  if (items.some((line) => !rows.has(line.bot)) || (known.byRank && outOfOrder())) offer();
}

function show(row, line) {
  const rating = decimal(line.rating, 1);
  fill(row, { rank: count(line.rank), rating, games: count(line.games) });
  const change = line.rating_micro - Number(row.dataset.micro);
  if (change === 0) return;
  row.dataset.micro = line.rating_micro;
  fill(row, { change: signed(change / 1e6, 1) });
  row.classList.add("moved");
  highlight(row);
}

/** Return whether the ratings shown are out of order. */
function outOfOrder() {
  const ratings = [...rows.values()].map((row) => numberIn(row.querySelector("[data-field=rating]").textContent));
  const rising = known.rising ? 1 : -1;
  return ratings.some((rating, at) => at > 0 && (rating - ratings[at - 1]) * rising < 0);
}

/** Offer once to sort the ladder again. */
function offer() {
  if (moved.childElementCount) return;
  const button = element("button", { type: "button" }, "Sort again");
  button.addEventListener("click", () => location.reload());
  moved.append(element("p", {}, "Ratings have changed; ranks may be out of date."), button);
}

async function poll() {
  const page = await api("GET", `/ladders/${known.ladder}?limit=${LINES_POLLED}`);
  if (page.as_of_seq <= shownSeq) return;
  take({ as_of_seq: page.as_of_seq, items: page.items.filter((line) => rows.has(line.bot)) });
  if (!known.top) offer();
}

follow(`/api/v1/ladders/${known.ladder}/stream?after=${known.asOf}`, { changes: take }, { poll });
