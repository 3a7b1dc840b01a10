// Run the account page: sign in and out, and show the bots, tokens and webhooks of the account.
import { showBots } from "./account_bots.js";
import { showFriendlies } from "./account_friendlies.js";
import { showInbox } from "./account_inbox.js";
import { showSelf } from "./account_self.js";
import { showTokens } from "./account_tokens.js";
import { showWebhooks } from "./account_webhooks.js";
import { byId, fill } from "./dom.js";
import { onSubmit, showErrors, wrong } from "./forms.js";
import { signIn, signOut, token } from "./session.js";

const { listedBots } = JSON.parse(byId("known").textContent);

/** Load all sections concurrently and show them together; report those that failed. */
async function show() {
  const me = await showSelf();
  fill(byId("signed-in"), { name: me.name, role: me.role === "owner" ? "" : me.role, id: me.id });
  const parts = await Promise.allSettled([showInbox(), showBots(me, listedBots), showFriendlies(), showTokens(), showWebhooks()]);
  const missing = parts.filter((part) => part.status === "rejected").map((part) => part.reason.message);
  byId("trouble").hidden = missing.length === 0;
  byId("trouble").textContent = missing.join(" ");
  byId("signed-out").hidden = true;
  byId("signed-in").hidden = false;
}

onSubmit(byId("sign-in"), async ({ token: given }) => {
  if (!given.trim()) throw wrong("token", "Paste the token of your account.");
  signIn(given.trim());
  try {
    await show();
  } catch (error) {
    signOut();
    throw error.status === 401 ? wrong("token", error.message) : error;
  }
  byId("token").value = "";
  byId("sign-out").focus();
});

byId("sign-out").addEventListener("click", () => {
  signOut();
  location.reload(); // removes all data of the account from the page
});

if (token()) {
  try {
    await show();
  } catch (error) {
    if (error.status === 401) {
      signOut();
      showErrors(byId("sign-in"), wrong("token", `You are signed out. ${error.message}`));
    } else {
      byId("trouble").hidden = false;
      byId("trouble").textContent = error.message;
      byId("signed-in").hidden = false;
      byId("signed-out").hidden = true;
    }
  }
}
