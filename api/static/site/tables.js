// Create tables in the style of those that the server renders.
import { element } from "./dom.js";

/** Columns of percentiles; `key` is the name of a percentile in the API. */
export const FIGURES = [["p50", "Half within"], ["p90", "90 % within"], ["p99", "99 % within"], ["max", "Longest"]]
  .map(([key, name]) => ({ key, name, number: true }));

/**
 * Return a table. `columns` are names, or {name, number?, kind?} with `kind` the class of the cells; `rows` are lists of
 * cells (text or elements), the first of which heads its row, or {cells, kind} with `kind` the class of the row.
 */
export function table(caption, columns, rows, { hiddenCaption = false } = {}) {
  const numbers = columns.map(({ number }) => (number ? "number" : null));
  const cellOf = (cell, at) => element(at ? "td" : "th", { scope: at ? null : "row", class: numbers[at] ?? columns[at].kind }, cell);
  const rowOf = ({ cells, kind }) => element("tr", { class: kind }, ...cells.map(cellOf));
  const head = columns.map((column, at) => element("th", { scope: "col", class: numbers[at] }, column.name ?? column));
  return element("div", { class: "table", role: "region", tabindex: 0, "aria-label": caption },
    element("table", {}, element("caption", { class: hiddenCaption && "unseen" }, caption),
      element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...rows.map((row) => rowOf(row.cells ? row : { cells: row })))));
}
