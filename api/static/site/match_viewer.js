// Show a match in the viewer on any page: live while it is played, replayed from its log once the log is open.

import { addPresentations, fetchPictures, fetchTable, make, mount } from "../viewer/match_page.js";
import { readPublic } from "./public.js";

const COUNTS = ["finished", "void"];

/** Report that a log could not be fetched now. A later request may succeed. */
export class LogUnavailable extends Error {}

/**
 * Show the match `known`, {id, status, open, header, faults, presentations}, in `root`. `source` has more of what the viewer
 * takes. For a live match, call `changed({state, open})` when its state changes and, with `played` true, when it has been
 * played to its end; return a function that stops following it.
 */
export async function showMatch(root, known, { source, changed = () => {} }) {
  addPresentations(known.presentations);
  try {
    await Promise.all([fetchTable(known.header.game), fetchPictures()]);
    if (!known.open) return await (await import("./match_live.js")).watch(root, known, { source, changed });
    mount(root, await whole(known, known.status, { source }));
  } catch (error) {
    root.replaceChildren(make("p", { class: "notice warn", role: "alert" }, error.message));
    root.classList.remove("viewer-place");
  }
  return () => {};
}

/** Return the data that the viewer shows once the log is open. Throw an `Error` for people if it cannot be shown. */
export async function whole({ id, faults }, status, { source }) {
  const reader = import("../viewer/match_log.js");
  const answer = await fetch(`/api/v1/matches/${id}/log`).catch(() => {
    throw new LogUnavailable("The service cannot be reached. Reload the page in a moment.");
  });
  if (answer.status === 429 || answer.status >= 500) {
    throw new LogUnavailable(`The service is busy (status ${answer.status}). Reload the page in a moment.`);
  }
  if (answer.status === 404) throw new Error("The match ended before its first card: there is nothing to show.");
  if (!answer.ok) throw new Error(`The log could not be loaded: the service answered with status ${answer.status}.`);
  const { readLog } = await reader;
  const { lines, rows, signature } = readLog(new Uint8Array(await answer.arrayBuffer()));
  return {
    header: rows[0], rows, signature, faults: faults ?? (await import("../viewer/advice.js")).ADVICE,
    lines: COUNTS.includes(status) ? lines : null, // the log of a cancelled match is incomplete
    question: async (row) => (await readPublic(`/matches/${id}/decisions/${row.row}`)).question,
    verification: () => readPublic(`/matches/${id}/verification`),
    ...source,
  };
}
