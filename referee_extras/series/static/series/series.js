// Let organisers create a series on the list of series, and run one on its page.
import { element } from "../site/dom.js";
import { wireInvitationForm, wireRemoveButton, showSentInvitations } from "../site/invitations.js";
import { ask, mayRun, onSend, whoami } from "../site/organise-shared.js";
import { answered, api, token } from "../site/session.js";

const created = document.querySelector("[data-new-series]");
const section = document.querySelector("[data-run-series]");

if (token()) begin();

async function begin() {
  const account = await whoami();
  if (!account) return;
  if (created) create(account);
  if (section && mayRun(account, section.dataset.organiserId)) await run(account);
}

function create(account) {
  created.hidden = false;
  const form = created.querySelector("form");
  if (account.role === "owner") form.elements.listed.checked = false;
  onSend(form, async (key) => {
    const made = await api("POST", "/series", { ...terms(form), listed: form.elements.listed.checked }, { key });
    location.assign(`/series/${made.id}`);
  });
}

async function run(account) {
  const id = section.dataset.runSeries;
  const path = `/series/${id}`;
  section.hidden = false;
  edit(section.querySelector("[data-edit]"), path);
  for (const button of section.querySelectorAll("[data-remove]")) removes(button, "Its points no longer count.", `${path}/tournaments/${button.dataset.remove}`);
  for (const button of section.querySelectorAll("[data-remove-organiser]")) wireRemoveButton(button, path, account);
  wireInvitationForm(section.querySelector("[data-add-organiser]"), path);
  section.querySelector("[data-delete]")?.addEventListener("click", async () => {
    if (await ask({ title: "Delete this series?", text: "Its tournaments stay." }, () => api("DELETE", path))) location.assign("/series");
  });
  const form = section.querySelector("[data-add]");
  onSend(form, async (key) => {
    await api("POST", `${path}/tournaments`, { tournaments: [form.elements.tournaments.value.trim()] }, { key });
    location.reload();
  });
  await showSentInvitations(section.querySelector("[data-invitations]"));
  await choices(form, account, new Set(section.dataset.members.split(" ")));
}

function edit(form, path) {
  onSend(form, async (key) => {
    const { etag } = await answered("GET", path);
    await answered("PATCH", path, terms(form), { key, ifMatch: etag });
    location.reload();
  });
}

function removes(button, text, path) {
  button.addEventListener("click", async () => {
    if (await ask({ title: `Remove ${button.dataset.name}?`, text }, () => api("DELETE", path))) location.reload();
  });
}

/** Offer the tournaments that the account runs and that are not in the series. */
async function choices(form, account, members) {
  const found = [];
  for (const status of ["open", "running", "paused", "finished"]) found.push(...(await api("GET", `/tournaments?organiser=${account.id}&status=${status}&limit=100`)).items);
  const offered = found.filter(({ id }) => !members.has(id));
  form.elements.tournaments.replaceChildren(...offered.map(({ id, name }) => element("option", { value: id }, name)));
  form.hidden = offered.length === 0;
  section.querySelector("[data-none]").hidden = offered.length > 0;
}

function terms(form) {
  const { name, points, best, description } = form.elements;
  const numbers = points.value.split(",").map((text) => (text.trim() === "" ? null : Number(text)));
  return {
    name: name.value.trim(),
    points: numbers,
    best: best.value === "" ? null : Number(best.value),
    description: description.value.trim() || null,
  };
}
