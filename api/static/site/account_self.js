// Rename, export and delete the account itself.
import { byId, element } from "./dom.js";
import { newKey, onSubmit, wrong } from "./forms.js";
import { Refused, answered, api, leave, token } from "./session.js";

let wired = false;
let own = null;
let etag = null;

/** Show the name of the account in the form that changes it. Return the account. */
export async function showSelf() {
  ({ said: own, etag } = await answered("GET", "/accounts/me"));
  byId("account-name").value = own.name;
  byId("consent").value = own.entry_consent;
  if (!wired) wire();
  wired = true;
  return own;
}

function wire() {
  onSubmit(byId("rename-account"), async ({ name }) => {
    if (name === own.name) throw wrong("name", "Nothing was changed.");
    await change({ name });
    for (const shown of document.querySelectorAll(".who [data-field=name]")) shown.textContent = own.name;
    say("Saved.");
  });
  onSubmit(byId("entry-consent"), async ({ entry_consent }) => {
    byId("invitation-said").textContent = "";
    await change({ entry_consent });
    byId("invitation-said").textContent = "Saved.";
  });
  byId("export-account").addEventListener("click", async (event) => {
    event.target.disabled = true;
    say("");
    try {
      await download();
    } catch (error) {
      say(error.message);
    } finally {
      event.target.disabled = false;
    }
  });
  onSubmit(byId("delete-account"), async ({ name }) => {
    if (name !== own.name) throw wrong("name", `Type ${own.name} to delete the account.`);
    const { checked } = byId("delete-account").elements.end_tournaments;
    const gone = await api("POST", "/accounts/me/delete", { name, end_tournaments: checked }, { key: newKey() });
    await leave();
    byId("signed-in").replaceChildren(element("p", { class: "notice", role: "status", tabindex: -1 }, `Your account is deleted. It is shown as ${gone.name}.`));
    byId("signed-in").firstElementChild.focus();
  });
}

async function change(wanted) {
  await answered("PATCH", "/accounts/me", wanted, { ifMatch: etag }).catch(async (error) => {
    if (error.status !== 412) throw error;
    await showSelf();
    throw new Refused(412, { detail: "The account was changed elsewhere. The form now has the present state." });
  });
  await showSelf();
}

async function download() {
  const answer = await fetch("/api/v1/accounts/me/export", { headers: { Authorization: `Bearer ${token()}` } });
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})));
  const link = element("a", { href: URL.createObjectURL(await answer.blob()), download: "account.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const say = (text) => (byId("self-said").textContent = text);
