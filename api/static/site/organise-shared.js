// Help the pages of organisers: find the signed-in account, ask for confirmation, send each request once.
import { focusHeld } from "./dom.js";
import { newKey, wireSignOut } from "./forms.js";
import { api, Refused, signIn, signOut, token } from "./session.js";

/** Return the signed-in account, or null without one. */
export async function whoami() {
  if (!token()) return null;
  try {
    return await api("GET", "/accounts/me");
  } catch (refused) {
    if (refused instanceof Refused && refused.status === 401) return null;
    throw refused;
  }
}

/** Return whether this account may run the tournaments of that organiser. */
export function mayRun(account, organiserId) {
  return account !== null && (account.role === "admin" || organiserId.split(" ").includes(account.id));
}

/** Convert a timestamp of the API to the value of a `datetime-local` field, or an empty text for none. */
export function localInput(instant) {
  if (!instant) return "";
  const at = new Date(instant);
  return new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Convert the value of a `datetime-local` field to a timestamp of the API, or null for none. */
export function instantOf(input) {
  return input.value ? new Date(input.value).toISOString() : null;
}

/** Convert a field with a local time on each line to timestamps of the API, or null for none. Keep what is no time. */
export function instantsOf(input) {
  const lines = input.value.split("\n").map((line) => line.trim()).filter(Boolean);
  const times = lines.map((line) => {
    const at = new Date(line);
    return Number.isNaN(at.valueOf()) ? line : at.toISOString();
  });
  return times.length ? times : null;
}

/** Return the text of an error, including its fields. */
export function inWords(refused) {
  if (!(refused instanceof Refused)) return "A script of this page failed. Reload the page to see the present state.";
  const fields = Object.entries(refused.fields).map(([field, message]) => `${field}: ${message}`);
  return [refused.message, ...fields].join(" ");
}

/**
 * Ask for confirmation in the page's dialog, then call `act({reason, key})`, one call at a time. Show an error in the
 * dialog, where the user can try again. Resolve to the result of `act`, or to null when the user declines.
 */
export function ask({ title, text, withReason = false }, act) {
  const dialog = document.getElementById("confirm");
  const part = (selector) => dialog.querySelector(selector);
  const key = newKey();
  part("#confirm-title").textContent = title;
  part("#confirm-text").textContent = text;
  part("[data-reason-field]").hidden = !withReason;
  part("#confirm-reason").value = "";
  part("[data-refusal]").textContent = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const end = (result) => {
      part("form").onsubmit = part("[data-no]").onclick = dialog.onclose = null;
      if (dialog.open) dialog.close();
      resolve(result);
    };
    part("[data-no]").onclick = () => end(null);
    dialog.onclose = () => end(null);
    part("form").onsubmit = async (event) => {
      event.preventDefault();
      const yes = part("[data-yes]");
      if (yes.disabled) return;
      yes.disabled = true;
      part("[data-refusal]").textContent = "";
      try {
        end((await act({ reason: part("#confirm-reason").value.trim() || null, key })) ?? true);
      } catch (refused) {
        part("[data-refusal]").textContent = inWords(refused);
      } finally {
        yes.disabled = false;
      }
    };
  });
}

/**
 * Call `act(key)` when the form is submitted, one call at a time, and show its error in the form. A request that may have
 * arrived is repeated with the same key until the form changes.
 */
export function onSend(form, act) {
  let key = newKey();
  let busy = false;
  form.addEventListener("input", () => (key = newKey()));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    const held = focusHeld();
    const button = event.submitter;
    if (button) button.disabled = true;
    const said = form.querySelector("[data-refusal]");
    said.textContent = "";
    try {
      await act(key, event.submitter);
      key = newKey();
    } catch (refused) {
      said.textContent = inWords(refused);
      if (refused.status) key = newKey();
    } finally {
      busy = false;
      if (button) button.disabled = false;
      held();
    }
  });
}

/** Show who is signed in or, once nobody is, how to become an organiser; call `found(account)` with the account. */
export async function signedIn(found) {
  const rights = document.querySelector("[data-rights]");
  const bar = document.querySelector("[data-signed-in]");
  rights.dataset.filled = bar.dataset.filled = "";
  const error = document.getElementById("token-error");
  const look = async () => {
    const account = await whoami();
    if (!account) {
      if (token()) error.textContent = "The token was not accepted (malformed, unknown or revoked). Enter a valid one.";
      signOut();
      return;
    }
    rights.hidden = document.querySelector("[data-signing-in]").hidden = true;
    bar.hidden = false;
    bar.querySelector('[data-field="account"]').textContent = account.name;
    await found(account);
  };
  rights.querySelector("[data-sign-in]").addEventListener("submit", (event) => {
    event.preventDefault();
    error.textContent = "";
    signIn(document.getElementById("token").value.trim());
    look().catch((refused) => (error.textContent = inWords(refused)));
  });
  wireSignOut(bar.querySelector("[data-sign-out]"));
  const signingIn = document.querySelector("[data-signing-in]");
  signingIn.hidden = !token();
  await look().catch((refused) => (error.textContent = inWords(refused)));
  signingIn.hidden = true;
  rights.removeAttribute("data-undecided");
}
