// List, create and revoke the tokens of the account.
import { showRecoveryCode } from "./account_recovery.js";
import { copied } from "./copy.js";
import { byId, element } from "./dom.js";
import { newKey, onSubmit, sureButton } from "./forms.js";
import { moment } from "./local_time.js";
import { api, signOut } from "./session.js";
import { table } from "./tables.js";

let wired = false;

export async function showTokens() {
  const found = (await api("GET", "/accounts/me/tokens")).items;
  const working = found.filter((token) => !token.revoked_at && !isExpired(token));
  const times = ["Created", "Last used", "Expires"].map((name) => ({ name, kind: "when" }));
  const columns = ["Name", "Text", "Scopes", ...times, "State"];
  const rows = found.map((token) => rowOf(token, working.length));
  byId("token-list").replaceChildren(table("Tokens of your account", columns, rows, { hiddenCaption: true }));
  if (wired) return;
  wired = true;
  onSubmit(byId("new-token"), make, { name: "name", expires_in_days: "days" });
}

const isExpired = (token) => token.expires_at !== null && new Date(token.expires_at) <= new Date();

function rowOf(token, working) {
  const ended = Boolean(token.revoked_at) || isExpired(token);
  const state = token.revoked_at ? `revoked ${moment(token.revoked_at)}` : isExpired(token) ? "expired" : revoker(token, working);
  const name = element("bdi", {}, token.name);
  const cells = [name, element("code", {}, token.hint), token.scopes.join(", "),
    moment(token.created_at), moment(token.last_used_at), token.expires_at ? moment(token.expires_at) : "never", state];
  return { cells, kind: ended ? "revoked" : null };
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
      showRecoveryCode(await api("GET", "/accounts/me")); // the token may have made the code, which ended with it
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

async function make({ name, days }) {
  const scopes = [...byId("new-token").querySelectorAll("[name=scopes]:checked")].map((box) => box.value);
  const wish = { name, scopes, expires_in_days: days ? Number(days) : null };
  const made = await api("POST", "/accounts/me/tokens", wish, { key: newKey() });
  byId("fresh-token").replaceChildren(element("div", { class: "notice", role: "status" },
    element("p", {}, "The token ", element("bdi", {}, made.name), ". It is shown only once:"), copied(made.token, "the token")));
  byId("new-token").reset();
  byId("fresh-token").querySelector("button").focus();
  await showTokens();
}
