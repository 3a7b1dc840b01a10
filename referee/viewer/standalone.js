// Show the match in a page that is opened from disk and contains everything it needs.

import { addPictures } from "./cards.js";
import { checkLog } from "./checking.js";
import { make } from "./dom.js";
import { Ending } from "./ending.js";
import { Flights } from "./flights.js";
import { ALL_TABLES } from "./games.js";
import { helpDialog } from "./help.js";
import { BadLog, readLog } from "./logfile.js";
import { addParts } from "./parts.js";
import { ALL_PRESENTATIONS } from "./presentations.js";
import { questionView } from "./question.js";
import { resultPanel } from "./result.js";
import { addPresentations, addTables } from "./tables.js";
import { mount } from "./viewer.js";

/** Show the match packed into this page. */
export async function openPacked() {
  const root = document.getElementById("viewer");
  try {
    if (typeof DecompressionStream === "undefined") throw new BadLog("This browser is too old to decompress the match: it lacks DecompressionStream.");
    const packed = Uint8Array.from(atob(document.getElementById("packed").textContent.trim()), (sign) => sign.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const { log, questions, faults, cards } = JSON.parse(await new Response(stream).text());
    addPictures(cards);
    addPresentations(ALL_PRESENTATIONS);
    addTables(...ALL_TABLES);
    addParts({ Flights, Ending, checkLog, helpDialog, questionView, resultPanel });
    const { lines, rows } = readLog(new TextEncoder().encode(log));
    mount(root, {
      header: rows[0], rows, lines, faults,
      question: (row) => (Object.hasOwn(questions ?? {}, row.row) ? questions[row.row] : null),
      noQuestion: "This page was created without the questions.",
    });
  } catch (error) {
    root.replaceChildren(make("p", { class: "notice bad", role: "alert" }, error.message));
  }
}
