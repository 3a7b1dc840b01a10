// Recover an account whose tokens are lost, and make new recovery codes.
import { copied } from "./copy.js";
import { byId, element } from "./dom.js";
import { attempts, newKey, onSubmit, wrong } from "./forms.js";
import { moment } from "./local_time.js";
import { Refused, api, signIn } from "./session.js";

const { note, attempt } = attempts();
let wired = false;

/** Make the form for lost tokens work. It signs in and calls `show`. */
export function wireRecovery(show) {
  const form = byId("recover");
  for (const choice of form.elements.way) choice.addEventListener("change", () => showWay(form));
  showWay(form);
  onSubmit(form, async (values) => {
    const recovered = await recover(values);
    signIn(recovered.token.token);
    form.reset();
    byId("recovered").replaceChildren(
      element("h2", { tabindex: -1 }, "Save these: they are shown only once"),
      element("p", {}, "Your account has a new token and a new recovery code. All earlier tokens are revoked, and the earlier code is invalid."),
      element("h3", {}, "Your token"), copied(recovered.token.token, "the token"), ...renderRecoveryCode(recovered.recovery_code));
    byId("recovered").hidden = false;
    await show();
    byId("recovered").querySelector("h2").focus();
  }, { challenge: "secret", proof: "secret" });
}

/** Return elements that show a new recovery code. */
export function renderRecoveryCode(code) {
  return [
    element("h3", {}, "Your recovery code"),
    element("p", {}, "With it you get a new token if you lose all of yours. It is shown only once. Keep it apart from the token, for example on paper."),
    copied(code, "the recovery code"),
  ];
}

/** Show whether the account has a recovery code, and make a new one when asked. */
export function showRecoveryCode({ recovery_code_created_at: createdAt }) {
  byId("code-state").textContent = createdAt ? `Made ${moment(createdAt)}. A new code replaces it. The code ends when the token that made it is revoked.` : "This account has none. Make one, so that you can get a new token if you lose all of yours.";
  if (wired) return;
  wired = true;
  byId("fresh-code").before(note);
  byId("renew-code").addEventListener("click", () => attempt(async () => {
    const made = await api("POST", "/accounts/me/recovery-code", undefined, { key: newKey() });
    byId("fresh-code").replaceChildren(element("div", { class: "notice", role: "status" }, ...renderRecoveryCode(made.recovery_code)));
    byId("fresh-code").querySelector("button").focus();
    showRecoveryCode({ recovery_code_created_at: made.created_at });
  }));
}

function showWay(form) {
  byId("with-code").hidden = form.elements.way.value !== "code";
  byId("with-bot").hidden = form.elements.way.value !== "bot";
}

async function recover({ account, way, recovery_code: code, bot, secret }) {
  if (!account.trim()) throw wrong("account", "Enter the name or id of the account.");
  if (way === "code") return api("POST", "/accounts/recover", { account: account.trim(), recovery_code: code.trim() });
  if (!bot.trim()) throw wrong("bot", "Enter the name of the bot.");
  const key = await importSecretKey(secret.trim());
  const { challenge } = await api("POST", "/accounts/recovery-challenge");
  const proof = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`referee-account-recovery|${challenge}`));
  const digits = [...new Uint8Array(proof)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return api("POST", "/accounts/recover-with-bot", { account: account.trim(), bot: bot.trim(), challenge, proof: digits });
}

/** Return the key with which a proof is computed. It differs from that of the bot's own answers by its hash function. */
async function importSecretKey(secret) {
  if (!crypto.subtle) throw new Refused(0, { detail: "A browser computes such a proof only on a page with https. Use `referee recover` instead." });
  if (!/^whsec_[A-Za-z0-9+/]+=*$/.test(secret)) throw wrong("secret", "This is not the secret of a bot. It begins with whsec_.");
  const bytes = Uint8Array.from(atob(secret.slice("whsec_".length)), (sign) => sign.charCodeAt(0));
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-512" }, false, ["sign"]);
}
