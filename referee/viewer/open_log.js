// Open a log that is dropped on the page, chosen, or pasted, or the page of a match with a given id.

import { make, setText, text } from "./dom.js";
import { BadLog, readLog, unpack } from "./logfile.js";
import { gameTitle } from "./plain.js";
import { fetchTable } from "./tables.js";
import { mount } from "./viewer.js";

const MATCH = /mat_[0-9a-z]{26}/;
const NO_QUESTION = "A log contains answers, not questions. Open the match on its server, or create a page with the questions: referee replay FILE --html replay.html.";

/** Accept logs in `place` and show them in `root`. `matchAddress(id)` returns the page of a match of this server. */
export function openLog(place, root, { faults, matchAddress }) {
  const said = make("p", { class: "log-status", role: "status" });
  const title = make("p", { class: "log-title quiet" });
  const form = make("div", { class: "log-form" });
  let shown = null;
  let latest = 0;
  const open = async (blob, name) => {
    const turn = ++latest; // the file dropped last is shown, even if another one is read later
    setText(said, `Reading ${name} …`);
    said.className = "log-status";
    try {
      const { lines, rows, signature } = readLog(await unpack(blob));
      const [header] = rows;
      await fetchTable(header.game);
      if (turn !== latest) return;
      const fresh = make("div", {});
      root.replaceChildren(fresh);
      setText(title, `${gameTitle(text(header.game))}: ${header.players.map((player) => text(player.name)).join(", ")} · match ${text(header.match)}`);
      shown?.dispose();
      shown = mount(fresh, { header, rows, lines, signature, faults, addressed: false, noQuestion: NO_QUESTION });
      setText(said, `${name}: ${rows.length} rows.`);
      if (!form.previousElementSibling?.isSameNode(root)) root.after(form); // below the table, which is what the reader wants to see
      place.classList.add("compact");
      said.after(title);
      scrollTo(0, 0);
    } catch (error) {
      if (turn !== latest) return;
      said.className = "log-status error";
      setText(said, error instanceof BadLog ? `${name}: ${error.message}` : `${name} cannot be shown: ${text(error.message)}`);
    }
  };
  const file = make("input", { type: "file", id: "log-file", accept: ".ndjson,.gz,.jsonl,application/x-ndjson,application/gzip",
    change: () => file.files[0] && open(file.files[0], file.files[0].name) });
  form.append(
    make("div", { class: "drop" }, make("label", { for: "log-file" }, "Drop a log here, or choose a file"), file,
      make("p", { class: "hint" }, ".ndjson or .ndjson.gz. The file stays in your browser and is not uploaded.")),
    byMatch(said, matchAddress));
  place.replaceChildren(form, said);
  listen(form, open);
}

function byMatch(said, matchAddress) {
  const input = make("input", { id: "match-id", autocomplete: "off", spellcheck: "false", placeholder: "mat_… or the address of a match" });
  const go = (event) => {
    event.preventDefault();
    const found = MATCH.exec(input.value);
    if (found) location.assign(matchAddress(found[0]));
    else {
      said.className = "log-status error";
      setText(said, "This does not contain the id of a match: mat_ followed by 26 letters and digits.");
    }
  };
  return make("form", { submit: go }, make("label", { for: "match-id" }, "Or a match of this server"),
    make("div", { class: "row" }, input, make("button", {}, "Open")));
}

/** Accept files that are dropped or pasted anywhere on the page. */
function listen(place, open) {
  const zone = place.querySelector(".drop");
  addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  addEventListener("dragleave", (event) => event.relatedTarget === null && zone.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const [file] = event.dataTransfer.files;
    if (file) open(file, file.name);
  });
  addEventListener("paste", (event) => {
    if (event.target.closest?.("input, textarea")) return;
    const [file] = event.clipboardData.files;
    const words = event.clipboardData.getData("text/plain");
    if (file) open(file, file.name);
    else if (words.trimStart().startsWith("{")) open(new Blob([words]), "The pasted text");
  });
}
