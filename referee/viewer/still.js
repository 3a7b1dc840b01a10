// Draw the table of a game at one moment, without controls.

import { fetchPictures } from "./cards.js";
import { OPEN, Replay } from "./replay.js";
import { TableView } from "./table.js";
import { addPresentations, fetchTable, tableFor } from "./tables.js";

/** Draw the last position of the rows in `root`, seen by everybody. */
export async function drawStill(root, { header, rows, presentations }) {
  addPresentations(presentations);
  await Promise.all([fetchTable(header.game), fetchPictures()]);
  const replay = new Replay(header, tableFor(header.game), rows);
  const table = new TableView(replay);
  root.replaceChildren(table.element);
  table.settle(); // before it is painted
  table.show(replay.positionAt(replay.last, OPEN));
}
