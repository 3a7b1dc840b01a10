// Show the verification of a log.

import { make, text } from "./dom.js";
import { fetchPart } from "./parts.js";
import { countNoun } from "./words.js";

/** Show a badge that says whether the log is valid, and a panel with the individual checks. */
export class Checks {
  constructor() {
    this.badge = make("a", { class: "badge", href: "#checks", title: "What your browser checked", hidden: true });
    this.list = make("ul", { class: "checks" });
    this.element = make("section", { class: "panel", id: "checks", tabindex: -1, hidden: true }, make("h2", {}, "Verification"), this.list,
      make("p", { class: "quiet" }, "Your browser checked that no row was altered and that the cards follow from the seed. To check that every move was legal, replay the match by its rules: ",
        make("code", {}, "referee verify FILE"), "."));
  }

  /** Verify a finished log with its signature (or null) in the browser and, with `verification`, on the server. */
  async run(lines, rows, signature, verification) {
    this.element.hidden = this.badge.hidden = false;
    this.list.replaceChildren();
    this._badge("wait", "Checking …");
    let found;
    try {
      found = await (await fetchPart("checkLog"))(lines, rows, signature);
    } catch (error) {
      found = { ok: false, row: 0, reason: `a row is malformed (${error.message})` };
    }
    this.list.append(...findings(found));
    if (found.ok && signature) this.list.append(make("li", { class: "quiet" }, `Signed with key ${text(signature.key)}; your browser did not check the signature.`));
    this._badge(found.ok ? "ok" : "bad", found.ok ? `Checked${found.revealed ? "" : ", deals unproven"}` : `Row ${found.row} is wrong`);
    if (verification) await this._ask(verification);
  }

  async _ask(verification) {
    let item;
    try {
      const report = await verification();
      item = report.ok
        ? finding(true, `The server replayed the match by its rules: ${countNoun(report.rows, "row")}, all legal${report.revealed ? " and all deals follow from the seed" : ""}.`)
        : finding(false, `The server found row ${report.row} wrong: ${text(report.reason)}.`);
      if (!report.ok) this._badge("bad", `Row ${report.row} is wrong`);
    } catch (error) {
      item = make("li", { class: "quiet" }, `The server could not verify the log: ${text(error.message)}`);
    }
    this.list.append(item);
  }

  _badge(state, words) {
    this.badge.dataset.state = state;
    this.badge.textContent = `${{ ok: "✓ ", bad: "✕ ", wait: "… " }[state]}${words}`;
  }
}

function findings(found) {
  if (!found.ok) return [finding(false, `Row ${found.row} is invalid: ${text(found.reason)}.`)];
  const linked = finding(true, `${countNoun(found.rows, "row")}, each linked to the row before by its SHA-256.`);
  if (!found.revealed) return [linked, make("li", { class: "quiet" }, "The seed of this log is not revealed yet, so its deals cannot be verified.")];
  return [linked, finding(true, "The seed matches the commitment published before the first card was dealt."),
    finding(true, `${countNoun(found.deals, "deal or draw", "deals and draws")}: each follows from the seed and ${found.nonces ? `the nonces of ${countNoun(found.nonces, "bot")}` : "no nonces, so the operator could choose the seed"}.`)];
}

function finding(holds, words) {
  return make("li", { class: holds ? "holds" : "fails" }, make("span", { "aria-hidden": "true" }, holds ? "✓ " : "✕ "), words);
}
