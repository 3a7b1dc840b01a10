// Let signed-in users run a tournament on its pages, and enter and withdraw bots.
import { element } from "./dom.js";
import { newKey } from "./forms.js";
import { ask, mayRun, onSend, whoami } from "./organise-shared.js";
import { wireInvitationForm, wireRemoveButton, showSentInvitations } from "./invitations.js";
import { admission, ownRequests, requests } from "./tournament-admission.js";
import { enterMany, listAll } from "./tournament-enter.js";
import { api, Refused } from "./session.js";

let account = null;
const begun = new WeakSet();

/** Show the actions that the account may take in the tournament of `head`. Call this again when the page has new parts. */
export async function begin(head) {
  account ??= await whoami().catch(() => null);
  if (!account) return;
  const id = head.dataset.tournament;
  const isOrganiser = mayRun(account, head.dataset.organiserId);
  for (const part of document.querySelectorAll("[data-for-organiser]")) part.hidden = !isOrganiser;
  for (const part of document.querySelectorAll("[data-with-token]")) part.hidden = false;
  if (isOrganiser) showActions(head, id);
  for (const button of newParts("[data-withdraw]")) {
    button.addEventListener("click", () => withdraw(id, button.dataset.withdraw, button.dataset.name));
  }
  for (const button of newParts("[data-disqualify]")) button.addEventListener("click", () => disqualify(id, button.dataset));
  for (const seeds of newParts("[data-seeds]")) onSend(seeds, () => setSeeds(id, seeds));
  if (isOrganiser) {
    for (const form of newParts("[data-admission]")) await admission(form, id);
    for (const form of newParts("[data-add-organiser]")) wireInvitationForm(form, `/tournaments/${id}`);
    for (const button of newParts("[data-remove-organiser]")) wireRemoveButton(button, `/tournaments/${id}`, account);
    for (const list of newParts("[data-invitations]")) await showSentInvitations(list);
    for (const section of newParts("[data-requests]")) await requests(section, id);
  } else for (const list of newParts("[data-own-requests]")) await ownRequests(list, id);
  for (const hint of document.querySelectorAll("[data-needs-token]")) hint.hidden = true;
  for (const form of newParts(isOrganiser ? "[data-enter-many]" : "[data-entry=enter]")) await (isOrganiser ? enterMany : entering)(form, id, account);
  for (const form of newParts("[data-entry=withdraw]")) await entering(form, id, account, isOrganiser);
}

function newParts(selector) {
  const found = [...document.querySelectorAll(selector)].filter((part) => !begun.has(part));
  for (const part of found) begun.add(part);
  return found;
}

function showActions(head, id) {
  const panel = document.querySelector("[data-manage]");
  if (!panel) return;
  const fit = () => {
    for (const button of panel.querySelectorAll("[data-action]")) {
      button.hidden = !button.dataset.states.split(" ").includes(head.dataset.status);
    }
    panel.hidden = false;
  };
  for (const button of newParts("[data-manage] [data-action]")) button.addEventListener("click", () => act(id, button));
  if (newParts("[data-manage]").length) document.addEventListener("tournament-state", fit);
  fit();
}

async function act(id, button) {
  const { action, title, text } = button.dataset;
  const withReason = "reason" in button.dataset;
  const done = await ask({ title, text, withReason }, ({ reason, key }) =>
    action === "delete"
      ? api("DELETE", `/tournaments/${id}`)
      : api("POST", `/tournaments/${id}/${action}`, withReason ? { reason } : undefined, { key }),
  );
  if (done && action === "delete") location.assign("/organise");
  else if (done) location.reload();
}

/** Let the form enter or withdraw a bot of the account or, of an organiser who withdraws, any entered bot. */
async function entering(form, id, account, isOrganiser = false) {
  const own = form.elements.own;
  onSend(form, async (key, button) => {
    const bot = own.value;
    if (!bot) throw new Refused(422, { detail: "Choose a bot." });
    if (button?.dataset.wish === "withdraw") return withdraw(id, bot, own.selectedOptions[0].text);
    const code = form.elements.code?.value.trim();
    const asks = form.querySelector("[data-approval]");
    await api("POST", `/tournaments/${id}/${asks ? "requests" : "enter"}`, { bot, ...(code && { code }) }, { key });
    location.reload();
  });
  form.hidden = false; // not before it has a handler: the browser would submit it to a page without parameters
  form.dataset.filled = "";
  if (isOrganiser) form.querySelector("label").textContent = "Bot";
  const bots = isOrganiser ? (await listAll(`/tournaments/${id}/entries?`)).filter((entry) => !entry.withdrawn_at) : await listAll(`/bots?owner=${account.id}`);
  for (const { id: botId, bot = botId, name } of bots) own.append(element("option", { value: bot }, name));
}

async function withdraw(id, bot, name) {
  const text = "Matches in progress are played to the end. Other open matches are cancelled and count for nobody.";
  const done = await ask({ title: `Withdraw ${name}?`, text }, ({ key }) =>
    api("POST", `/tournaments/${id}/withdraw`, { bot }, { key }),
  );
  if (done) location.reload();
}

async function disqualify(id, { disqualify: bot, name }) {
  const text = "It is ranked after all others and cannot enter again. Its open matches are cancelled; results stay. The reason is public. This cannot be undone.";
  const done = await ask({ title: `Disqualify ${name}?`, text, withReason: true }, ({ reason, key }) =>
    api("POST", `/tournaments/${id}/disqualify`, { bot, reason }, { key }),
  );
  if (done) location.reload();
}

/** Send the seeds that were changed. */
async function setSeeds(id, form) {
  const changed = [...form.querySelectorAll("input[data-bot]")].filter((input) => input.value !== input.dataset.was);
  const said = form.querySelector("[data-done]");
  said.dataset.filled = ""; // a renewal of the page leaves what it says
  said.textContent = "";
  if (!changed.length) {
    said.textContent = "No seed was changed.";
    return;
  }
  const seeds = Object.fromEntries(changed.map((input) => [input.dataset.bot, input.value ? Number(input.value) : null]));
  await api("PUT", `/tournaments/${id}/seeds`, { seeds }, { key: newKey() });
  for (const input of changed) input.dataset.was = input.value;
  said.textContent = changed.length === 1 ? "One seed is saved." : `${changed.length} seeds are saved.`;
}
