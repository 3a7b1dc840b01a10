// Run the account page: sign in and out, and show the bots, and tokens of the account, and sections of extras.
import { showBots } from "./account_bots.js";
import { showFriendlies } from "./account_friendlies.js";
import { showInvitations } from "./account_invitations.js";
import { showRecoveryCode, wireRecovery } from "./account_recovery.js";
import { showSelf } from "./account_self.js";
import { showTokens } from "./account_tokens.js";
import { byId, fill } from "./dom.js";
import { onSubmit, showErrors, wireSignOut, wrong } from "./forms.js";
import { isDeviceToken, signIn, signOut, staySignedIn, token } from "./session.js";

const { listedBots } = JSON.parse(byId("known").textContent);

/** Load all sections concurrently and show them together; report those that failed. */
async function show() {
  const me = await showSelf();
  fill(byId("signed-in"), { name: me.name, role: me.role === "owner" ? "" : me.role, id: me.id });
  showRecoveryCode(me);
  const parts = await Promise.allSettled([showInvitations(() => showBots(me, listedBots)), showBots(me, listedBots), showFriendlies(), showTokens(), ...showAdded()]);
  const missing = parts.filter((part) => part.status === "rejected").map((part) => part.reason.message);
  byId("trouble").hidden = missing.length === 0;
  byId("trouble").textContent = missing.join(" ");
  const isLimited = isDeviceToken();
  for (const part of document.querySelectorAll("[data-needs-all]")) part.hidden = isLimited;
  byId("limited").hidden = !isLimited;
  showSignedIn(true);
}

/** Load the modules of sections that extras add; each exports show(). */
function showAdded() {
  return [...document.querySelectorAll("[data-module]")].map(async (section) => (await import(section.dataset.module)).show());
}

/** Show the account, or the form to sign in. Until this is known, the page shows neither. */
function showSignedIn(is) {
  byId("signing-in").hidden = true;
  byId("signed-out").removeAttribute("data-undecided");
  byId("signed-out").hidden = is;
  byId("signed-in").hidden = !is;
}

onSubmit(byId("sign-in"), async ({ token: given, keep }) => {
  if (!given.trim()) throw wrong("token", "Paste the token of your account.");
  signIn(given.trim());
  try {
    if (keep) await staySignedIn(browserName());
    await show();
  } catch (error) {
    signOut();
    if (error.code === "missing_scope") throw wrong("keep", "Only a token with the scope all can do this. Clear this box to sign in with a lesser one, in this tab.");
    if (keep && error.code === "forbidden") throw wrong("keep", `${error.message} Clear this box to sign in.`);
    throw error.status === 401 ? wrong("token", error.message) : error;
  }
  byId("sign-in").reset();
  byId("sign-out").focus();
});

/** Return a name for the token of this browser, such as "Firefox on Linux 2027-01-31". */
function browserName() {
  const known = (names, fallback) => names.find((name) => navigator.userAgent.includes(name)) ?? fallback;
  const browser = known(["Edg", "OPR", "Firefox", "Chrome", "Safari"], "Browser").replace("Edg", "Edge").replace("OPR", "Opera");
  const system = known(["Windows", "Android", "iPhone", "iPad", "Mac", "Linux"], "another system");
  return `${browser} on ${system} ${new Date().toISOString().slice(0, 10)}`;
}

byId("use-token").addEventListener("click", () => {
  byId("signed-out").hidden = false;
  byId("token").focus();
});

wireRecovery(show);

wireSignOut(byId("sign-out"));

if (!token()) showSignedIn(false);
else {
  byId("signing-in").hidden = false;
  try {
    await show();
  } catch (error) {
    if (error.status === 401) {
      signOut();
      showSignedIn(false);
      showErrors(byId("sign-in"), wrong("token", `You are signed out. ${error.message}`));
    } else {
      byId("trouble").hidden = false;
      byId("trouble").textContent = error.message;
      showSignedIn(true);
    }
  }
}
