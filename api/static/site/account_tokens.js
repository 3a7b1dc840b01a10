// The tokens of whoever is signed in: listed, made, revoked.
import { table } from "./account_bots.js";
import { copied } from "./copy.js";
import { element } from "./dom.js";
import { newKey, onSubmit, sureButton } from "./forms.js";
import { moment } from "./moments.js";
import { api } from "./session.js";

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
  const button = sureButton("Revoke", working === 1 ? "It is your last: revoke?" : "Really revoke?", async () => {
    await api("DELETE", `/accounts/me/tokens/${encodeURIComponent(token.id)}`);
    try {
      await showTokens();
    } catch (error) {
      if (error.status === 401) location.reload(); // it was the one in use
      else throw error;
    }
  });
  return button;
}

async function make({ name }) {
  const made = await api("POST", "/accounts/me/tokens", { name }, { key: newKey() });
  byId("fresh-token").replaceChildren(element("div", { class: "notice", role: "status" },
    element("p", {}, "The token ", element("bdi", {}, made.name), ", shown this once:"), copied(made.token, "the token")));
  byId("new-token").reset();
  await showTokens();
}
