// Void a finished match or propose it, decide about a proposal, or cancel a match that is not over.
import { element, fill } from "./dom.js";
import { ask, onSend, signedIn } from "./organise-shared.js";
import { api } from "./session.js";
import { stateLabel } from "./labels.js";

const VOID = ["finished", "stuck"];
const OVER = ["cancelled", "void"];
const find = document.querySelector("[data-find]");
const card = document.querySelector("[data-match-card]");
const form = document.querySelector("[data-take-back]");
const outcome = document.querySelector("[data-outcome]");
const proposal = document.querySelector("[data-proposal]");
const DONE = { decline: "The proposal is declined.", withdraw: "The proposal is withdrawn." };
let match = null;
let proposed = null;
let account = null;

find.hidden = true;
signedIn(async (found) => {
  account = found;
  find.hidden = false;
  const wanted = find.elements.match;
  if (wanted.value) await look(wanted.value.trim()).catch((refused) => (find.querySelector("[data-refusal]").textContent = refused.message));
});
onSend(find, () => look(find.elements.match.value.trim()));
onSend(form, send);
for (const button of proposal.querySelectorAll("[data-decision]")) button.addEventListener("click", () => decide(button));

async function look(id) {
  card.hidden = form.hidden = outcome.hidden = proposal.hidden = true;
  match = await api("GET", `/matches/${encodeURIComponent(id)}`);
  proposed = (await api("GET", `/voids?state=proposed&match=${match.id}`)).items[0] ?? null;
  history.replaceState(null, "", `?match=${match.id}`);
  const title = card.querySelector('[data-field="title"]');
  title.setAttribute("href", `/matches/${match.id}`);
  const where = match.tournament_round ? `Round ${match.tournament_round}, table ${match.table}, leg ${match.leg ?? 1}` : "Not in a tournament round";
  const pill = card.querySelector('[data-field="state"]');
  pill.className = `state state-${match.status}`;
  fill(card, { title: match.id, state: stateLabel(match.status), where, reason: match.reason ?? "" });
  card.querySelector("[data-reason-line]").hidden = !match.reason;
  card.querySelector("[data-seats]").replaceChildren(
    ...match.seats.map((seat) =>
      element("li", {}, element("bdi", {}, seat.name ?? `Seat ${seat.seat + 1}`), seat.placement ? ` (rank ${seat.placement})` : ""),
    ),
  );
  card.hidden = false;
  offer();
}

/** Offer what can be done with the match in its present state. */
function offer() {
  if (OVER.includes(match.status)) {
    outcome.textContent = `This match is already ${stateLabel(match.status)}.`;
    outcome.hidden = false;
    return;
  }
  const voiding = VOID.includes(match.status);
  if (proposed && voiding) return offerDecision();
  fill(form, {
    means: voiding
      ? "The log and placements stay readable, with your reason. Standings and ladder become what they would be without this match. If its result counts, an operator who owns no bot in it has to confirm this first."
      : "The match ends without a result and stays listed, with your reason.",
  });
  document.getElementById("take-title").textContent = voiding ? "Void the match" : "Cancel the match";
  form.querySelector("[data-submit]").textContent = voiding ? "Void the match…" : "Cancel the match…";
  form.querySelector("[data-rematch]").hidden = !voiding || !match.tournament;
  form.elements.whole_group.checked = match.group.kind === "duplicate";
  form.hidden = false;
}

/** Show the open proposal, with what this account may be allowed to decide; the service has the last word. */
function offerDecision() {
  fill(proposal, {
    who: proposed.proposed_by ?? "the service",
    reason: proposed.reason,
    scope: proposed.whole_group ? "It concerns all matches that share these cards." : "",
    again: proposed.rematch === false ? "There is no rematch." : proposed.rematch ? "It is played again with new cards." : "It is played again if the tournament needs it.",
  });
  const own = proposed.proposed_by === account.name;
  for (const button of proposal.querySelectorAll("[data-decision]"))
    button.hidden = button.dataset.decision === "withdraw" ? !own : own || account.role !== "admin";
  proposal.hidden = false;
}

async function decide(button) {
  const { decision, title, text } = button.dataset;
  const path = `/voids/${proposed.id}/${decision}`;
  const done = await ask({ title, text }, ({ key }) => api("POST", path, undefined, { key }));
  if (!done) return;
  await look(match.id);
  outcome.textContent = decision === "confirm" ? describe(done) : DONE[decision];
  outcome.hidden = false;
  card.querySelector("a").focus();
}

async function send() {
  const error = document.getElementById("reason-error");
  const reason = form.elements.reason.value.trim();
  error.textContent = reason ? "" : "Enter a reason.";
  form.elements.reason.toggleAttribute("aria-invalid", !reason);
  if (!reason) return form.elements.reason.focus();
  const voiding = VOID.includes(match.status);
  const wish = { reason, whole_group: form.elements.whole_group.checked };
  if (voiding && match.tournament) wish.rematch = { yes: true, no: false }[form.elements.rematch.value] ?? null;
  const group = wish.whole_group ? " This includes all matches that share its cards." : "";
  const again = wish.rematch ? " It is played again with new cards." : "";
  const text = voiding
    ? `Its result no longer counts, immediately or when an operator confirms it.${group}${again} A void cannot be undone.`
    : `It ends without a result.${group} This cannot be undone.`;
  const path = `/matches/${match.id}/${voiding ? "void" : "cancel"}`;
  const done = await ask({ title: voiding ? "Void the match?" : "Cancel the match?", text }, ({ key }) => api("POST", path, wish, { key }));
  if (!done) return;
  await look(match.id);
  outcome.textContent = voiding ? describe(done) : "The match is cancelled.";
  outcome.hidden = false;
  card.querySelector("a").focus();
}

function describe({ void: voided, cancelled, rematches, proposal: waiting }) {
  if (waiting) return "The void is proposed. It takes effect when an operator who owns no bot in the match confirms it.";
  const parts = [`${voided.length === 1 ? "One match is" : `${voided.length} matches are`} void.`];
  if (cancelled.length) parts.push(`${cancelled.length} that were not over are cancelled.`);
  if (rematches.length) parts.push(`Rematches: ${rematches.join(", ")}.`);
  return parts.join(" ");
}
