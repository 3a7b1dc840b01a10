// List, create and revoke the tokens of the account.
import { copied } from "./copy.js";
import { byId, element } from "./dom.js";
import { newKey, onSubmit, sureButton } from "./forms.js";
import { moment } from "./local_time.js";
import { api, signOut } from "./session.js";
import { table } from "./tables.js";

let wired = false;

export async function showTokens() {
  const found = (await api("GET", "/accounts/me/tokens")).items;
  const working = found.filter((token) => !token.revoked_at);
  const columns = ["Name", "Text", { name: "Created", kind: "when" }, { name: "Last used", kind: "when" }, "State"];
  const rows = found.map((token) => rowOf(token, working.length));
  byId("token-list").replaceChildren(table("Tokens of your account", columns, rows, { hiddenCaption: true }));
  if (wired) return;
  wired = true;
  onSubmit(byId("new-token"), make, { name: "name" });
}

function rowOf(token, working) {
  const state = token.revoked_at ? `revoked ${moment(token.revoked_at)}` : revoker(token, working);
  const name = element("bdi", {}, token.name);
  const cells = [name, element("code", {}, token.hint), moment(token.created_at), moment(token.last_used_at), state];
  return { cells, kind: token.revoked_at ? "revoked" : null };
}

function revoker(token, working) {
  const trouble = element("p", { class: "error", role: "alert", hidden: true });
  const button = sureButton("Revoke", working === 1 ? "Revoke your last token?" : "Really revoke?", async () => {
    trouble.hidden = true;
    let revoked = false;
    try {
      await api("DELETE", `/accounts/me/tokens/${encodeURIComponent(token.id)}`);
      revoked = true;
      await showTokens();
      byId("token-list").firstElementChild.focus();
    } catch (error) {
      if (revoked && error.status === 401) leave(); // the token of this tab was revoked
      else [trouble.textContent, trouble.hidden] = [error.message, false];
    }
  });
  return element("div", {}, button, trouble);
}

function leave() {
  signOut();
  location.reload();
}

async function make({ name }) {
  const made = await api("POST", "/accounts/me/tokens", { name }, { key: newKey() });
  byId("fresh-token").replaceChildren(element("div", { class: "notice", role: "status" },
    element("p", {}, "The token ", element("bdi", {}, made.name), ". It is shown only once:"), copied(made.token, "the token")));
  byId("new-token").reset();
  byId("fresh-token").querySelector("button").focus();
  await showTokens();
}
