// How the match ended, and whether its log holds.

import { checkLog } from "./checking.js";
import { make, nameOf, tableOf, text } from "./dom.js";
import { counted, numberWords } from "./words.js";

/** The result as a table; empty while there is none. `botAddress(player)` is where more is told of a bot, or null. */
export function resultPanel(replay, botAddress) {
  const { result, header } = replay;
  if (!result) return make("section", { class: "panel", hidden: true });
  const seats = header.players.map((_, seat) => seat);
  seats.sort((one, other) => result.placements[one] - result.placements[other] || one - other);
  const rows = seats.map((seat) => [
    playerOf(header.players[seat], botAddress), String(result.placements[seat]), String(seat), text(header.players[seat].version ?? "–"),
    numberWords(result.scores[seat]), signed(result.returns[seat]), faultsOf(result.faults[seat]),
  ]);
  return make("section", { class: "panel" }, make("h2", {}, "Result"),
    tableOf("Who came where", ["Player", "Place", "Seat", "Version", "Score", "Returns", "Faults"], rows, { numbers: [1, 2, 4, 5, 6] }));
}

/** The badge that tells whether the log holds, and the panel with what was checked. `lines` are null while none are had. */
export class Checks {
  constructor() {
    this.badge = make("a", { class: "badge", href: "#checks", hidden: true });
    this.list = make("ul", { class: "checks" });
    this.element = make("section", { class: "panel", id: "checks", tabindex: -1, hidden: true }, make("h2", {}, "Verification"), this.list,
      make("p", { class: "quiet" }, "Your browser checked that no row was altered and that the cards follow from the seed. That every move was legal is checked by replaying the rules: ",
        make("code", {}, "referee verify FILE"), "."));
  }

  /** Checks a finished log in the browser and, where `verification` is given, asks the server as well. */
  async run(lines, rows, verification) {
    this.element.hidden = this.badge.hidden = false;
    this.list.replaceChildren();
    this._badge("wait", "Checking …");
    let found;
    try {
      found = await checkLog(lines, rows);
    } catch (error) {
      found = { ok: false, row: 0, reason: `a row is malformed (${error.message})` };
    }
    this.list.append(...findings(found));
    this._badge(found.ok ? "ok" : "bad", found.ok ? `Checked in your browser${found.revealed ? "" : ", deals unproven"}` : `Row ${found.row} is wrong`);
    if (verification) await this._ask(verification);
  }

  async _ask(verification) {
    let item;
    try {
      const report = await verification();
      item = report.ok
        ? finding(true, `The server replayed it by the rules: ${counted(report.rows, "row")}, all legal${report.revealed ? ", deals as the seed has them" : ""}.`)
        : finding(false, `The server found row ${report.row} wrong: ${text(report.reason)}.`);
      if (!report.ok) this._badge("bad", `Row ${report.row} is wrong`);
    } catch (error) {
      item = make("li", { class: "quiet" }, `The server's check could not be had: ${text(error.message)}`);
    }
    this.list.append(item);
  }

  _badge(state, words) {
    this.badge.dataset.state = state;
    this.badge.textContent = `${{ ok: "✓ ", bad: "✕ ", wait: "… " }[state]}${words}`;
  }
}

function findings(found) {
  if (!found.ok) return [finding(false, `Row ${found.row} does not hold: ${text(found.reason)}.`)];
  const linked = finding(true, `${counted(found.rows, "row")}, each linked to the one before by its SHA-256.`);
  if (!found.revealed) return [linked, make("li", { class: "quiet" }, "This log is not revealed yet: without its seed the deals are unproven.")];
  return [linked, finding(true, "The seed is the one promised before the first card was dealt."),
    finding(true, `${counted(found.deals, "deal or draw", "deals and draws")}: each follows from the seed and the bots' own numbers.`)];
}

function finding(holds, words) {
  return make("li", { class: holds ? "holds" : "fails" }, make("span", { "aria-hidden": "true" }, holds ? "✓ " : "✕ "), words);
}

function playerOf(player, botAddress) {
  const address = botAddress?.(player);
  return address ? make("a", { href: address }, nameOf(player.name)) : nameOf(player.name);
}

function signed(number) {
  return number > 0 ? `+${number}` : numberWords(number);
}

function faultsOf(count) {
  return count ? make("span", { class: "bad" }, String(count)) : "0";
}
