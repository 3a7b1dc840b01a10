// Tables made by scripts, in the same frame as those of the pages.
import { element } from "./dom.js";

/** `columns` are [{name, number?}], `rows` lists of cells (text or elements), the first of which heads its row. */
export function table(caption, columns, rows) {
  const kind = (at) => (columns[at].number ? "number" : null);
  const head = columns.map(({ name }, at) => element("th", { scope: "col", class: kind(at) }, name));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell, at) => (at ? element("td", { class: kind(at) }, cell) : element("th", { scope: "row", class: kind(at) }, cell)))));
  return element("div", { class: "table", role: "region", tabindex: 0, "aria-label": caption },
    element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
}
