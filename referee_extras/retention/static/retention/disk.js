// Show operators the use of the disk, its growth, and what is kept, as the scheduler measured and pruned it last.
import { element } from "../site/dom.js";
import { moment } from "../site/local_time.js";
import { api } from "../site/session.js";

const WARN_DAYS = 14;

/** Fill the section. */
export async function show(section) {
  const use = await api("GET", "/disk-use");
  const summary = section.querySelector("[data-disk-summary]");
  const isShort = use.days_left !== null && use.days_left < WARN_DAYS;
  summary.className = isShort ? "error" : "";
  summary.replaceChildren(...sentences(use));
  section.querySelector("[data-disk-table]").hidden = use.parts.length === 0;
  section.querySelector("[data-disk-parts]").replaceChildren(
    ...use.parts.map(({ part, bytes, rows }) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, inWords(part)),
        element("td", { class: "number" }, mebibytes(bytes)),
        element("td", { class: "number" }, rows === null ? "" : String(rows)),
      ),
    ),
  );
  section.querySelector("[data-kept]").replaceChildren(
    ...use.rules.flatMap(({ kind, rule }) => [element("dt", {}, inWords(kind)), element("dd", {}, `${rule}${lately(use, kind)}`)]),
  );
}

function sentences(use) {
  if (use.measured_at === null) return ["Nothing has been measured yet. The scheduler measures each night."];
  const used = `The database takes ${mebibytes(use.database_bytes)} MiB, and ${mebibytes(use.free_bytes)} MiB are free`;
  const grown = use.growth_bytes_per_day === null ? "its growth is not known yet" : `it grows by ${mebibytes(use.growth_bytes_per_day)} MiB a day`;
  const left = use.days_left === null ? "" : `, so the disk is full in ${use.days_left} days`;
  return [`${used}; ${grown}${left} (measured `, moment(use.measured_at), ")."];
}

function lately({ pruned }, kind) {
  const found = pruned.find((deleted) => deleted.kind === kind);
  return found ? `; last pruned: ${found.rows}` : "";
}

function inWords(name) {
  return name.replaceAll("_", " ");
}

function mebibytes(bytes) {
  return (bytes / 1024 / 1024).toFixed(1);
}
