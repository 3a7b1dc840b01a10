// Divide the rows of a part into pages that fit its height.

const numbers = new WeakMap(); // of the page of each row

/** Assign the rows of `part` to pages and return the number of pages, at least 1. */
export function paginate(part) {
  const rows = rowsOf(part);
  for (const row of rows) row.hidden = false;
  if (!rows.length) return 1;
  const room = part.getBoundingClientRect().bottom - rows[0].getBoundingClientRect().top;
  let number = 0;
  let top = rows[0].getBoundingClientRect().top;
  for (const row of rows) {
    const box = row.getBoundingClientRect();
    if (box.bottom - top > room && box.top > top) {
      number += 1;
      top = box.top;
    }
    numbers.set(row, number);
  }
  return number + 1;
}

/** Show one page of the rows of `part`. */
export function showPage(part, page) {
  const rows = rowsOf(part);
  for (const row of rows) row.hidden = numbers.get(row) !== page;
  const pages = rows.length ? numbers.get(rows.at(-1)) + 1 : 1;
  const words = part.querySelector(".page-of");
  if (words) words.textContent = pages > 1 ? `${page + 1} / ${pages}` : "";
}

function rowsOf(part) {
  return [...part.querySelectorAll("[data-rows] > *")];
}
