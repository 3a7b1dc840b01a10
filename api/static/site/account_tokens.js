// The tokens of whoever is signed in: listed, made, revoked.
import { table } from "./account_bots.js";
import { copied } from "./copy.js";
import { element } from "./dom.js";
import { newKey, onSubmit, sureButton } from "./forms.js";
import { moment } from "./local_time.js";
import { api, signOut } from "./session.js";

const byId = (id) => document.getElementById(id);
let wired = false;

export async function showTokens() {
  const found = (await api("GET", "/accounts/me/tokens")).items;
  const working = found.filter((token) => !token.revoked_at);
  byId("token-list").replaceChildren(table("Tokens of your account", ["Name", "Text", "Made", "Last used", "State"], found.map((token) => line(token, working.length))));
  if (wired) return;
  wired = true;
  onSubmit(byId("new-token"), make, { name: "name" });
}

function line(token, working) {
  const last = element("td", {}, token.revoked_at ? `revoked ${moment(token.revoked_at)}` : revoker(token, working));
  return element("tr", { class: token.revoked_at ? "revoked" : null },
    element("th", { scope: "row" }, element("bdi", {}, token.name)),
    element("td", {}, element("code", {}, token.hint)),
    element("td", { class: "when" }, moment(token.created_at)),
    element("td", { class: "when" }, moment(token.last_used_at)),
    last);
}

function revoker(token, working) {
  const trouble = element("p", { class: "error", role: "alert", hidden: true });
  const button = sureButton("Revoke", working === 1 ? "It is your last: revoke?" : "Really revoke?", async () => {
    trouble.hidden = true;
    let revoked = false;
    try {
      await api("DELETE", `/accounts/me/tokens/${encodeURIComponent(token.id)}`);
      revoked = true;
      await showTokens();
      byId("token-list").firstElementChild.focus();
    } catch (error) {
      if (revoked && error.status === 401) leave(); // it was the one in use
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
    element("p", {}, "The token ", element("bdi", {}, made.name), ", shown this once:"), copied(made.token, "the token")));
  byId("new-token").reset();
  byId("fresh-token").querySelector("button").focus();
  await showTokens();
}
