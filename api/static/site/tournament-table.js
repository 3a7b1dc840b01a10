// Update the standings of a tournament. Rows change in place, and are sorted again only when nobody is reading them.
import { copyOf, highlight } from "./dom.js";
import { drawEmblem } from "./emblem.js";
import { count, decimal, fixed } from "./figures.js";

/** Return the standings of this page, or null if it has none. `show(items, {bars})` updates them. */
export function standings() {
  const table = document.getElementById("standings");
  if (!table) return null;
  table.dataset.own = "";
  const terms = JSON.parse(document.getElementById("standings-terms").textContent);
  const body = table.tBodies[0];
  const notice = document.querySelector("[data-moved]");
  let wanted = null; // the new order of rows, applied when nobody is reading

  const rowOf = (bot) => [...body.rows].find((row) => row.dataset.bot === bot);
  const isRead = () => table.matches(":hover") || table.contains(document.activeElement);
  const arrange = () => {
    if (!wanted) return;
    const lines = wanted.map((item) => rowOf(item.bot) ?? filled(newLine(), item, terms, true));
    wanted = null;
    notice.hidden = true;
    body.replaceChildren(...lines);
  };

  table.addEventListener("pointerleave", () => !isRead() && arrange());
  table.addEventListener("focusout", () => setTimeout(() => !isRead() && arrange()));
  notice.querySelector("button").addEventListener("click", arrange);

  return {
    terms,
    show(items, { bars = false } = {}) {
      for (const item of items) {
        const row = rowOf(item.bot);
        if (row) filled(row, item, terms, bars);
      }
      wanted = inOrder(body, items) ? null : items;
      notice.hidden = !wanted || !isRead();
      if (!isRead()) arrange();
    },
    /** Mark the bots (a set of ids) for which a substitute plays. */
    showSubstitutes(bots) {
      for (const row of body.rows) mark(row, "substitute", bots.has(row.dataset.bot));
    },
    names: () => new Map([...body.rows].map((row) => [row.dataset.bot, row.querySelector('[data-field="name"]').textContent])),
  };
}

function inOrder(body, items) {
  return items.length === body.rows.length && items.every((item, at) => body.rows[at].dataset.bot === item.bot);
}

function newLine() {
  return copyOf("standings-row").querySelector("tr");
}

/** Fill a row from an item of the API, including its error bar if `bars` is set. */
function filled(row, item, terms, bars) {
  const before = row.querySelector('[data-field="rank"]').textContent.trim();
  row.dataset.bot = item.bot;
  row.querySelector("th a").setAttribute("href", `/bots/${item.bot}`);
  drawEmblem(row.querySelector(".emblem"), item.bot);
  put(row, "rank", String(item.rank));
  put(row, "name", item.name);
  row.querySelector(".owner a").setAttribute("href", `/owners/${item.owner}`);
  row.querySelector("th").dataset.by = item.owner_name;
  put(row, "owner_name", item.owner_name);
  put(row, "record", `${item.wins}–${item.draws}–${item.losses}`);
  mark(row, "disqualification", item.disqualification !== null);
  row.querySelector('[data-mark="disqualification"]').title = item.disqualification ?? "";
  mark(row, "withdrawn", item.withdrawn && item.disqualification === null);
  mark(row, "version_changed", item.version_changed);
  const values = new Map(item.tie_breaks.map(({ name, value }) => [name, value]));
  for (const { name, digits } of terms.columns) {
    text(row.querySelector(`[data-column="${name}"]`), decimal(values.get(name) ?? null, digits));
  }
  const score = row.querySelector('[data-column="score"]');
  if (score) text(score, decimal(item.points, terms.digits));
  if (terms.all_columns) put(row, "matches", count(item.matches));
  if (terms.all_columns && bars) interval(row, item);
  if (before !== String(item.rank) && row.isConnected) highlight(row);
  return row;
}

function interval(row, { points_per_match: share, error_bar: { low, high } }) {
  const range = row.querySelector(".range");
  const dot = row.querySelector(".dot");
  range.setAttribute("x", fixed(2 + 100 * (low ?? 0), 1));
  range.setAttribute("width", fixed(100 * ((high ?? 0) - (low ?? 0)), 1));
  dot.setAttribute("cx", fixed(2 + 100 * (share ?? 0), 1));
  dot.setAttribute("r", share === null ? "0" : "3");
  put(row, "share", decimal(share, 2));
  put(row, "range", low === null ? "" : `${decimal(low, 2)} to ${decimal(high, 2)}`);
}

function put(row, name, value) {
  text(row.querySelector(`[data-field="${name}"]`), value);
}

function text(place, value) {
  if (place.textContent.trim() !== value) place.textContent = value;
}

function mark(row, name, is) {
  row.querySelector(`[data-mark="${name}"]`).hidden = !is;
}
