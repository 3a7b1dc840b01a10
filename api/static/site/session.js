// Call the API as the signed-in account. Its token is stored in this tab or, if the user wishes, a lesser one in this
// browser for all tabs, and sent only to this service.

const KEY = "referee.token";
const SENDABLE = /^[\x21-\x7e]+$/; // characters allowed in a header
const tab = () => sessionStorage; // functions, since the browser may refuse already the property
const browser = () => localStorage;

/** Return the text stored in this tab under `name`, or null if there is none or the browser refuses storage. */
export function kept(name, storage = tab) {
  try {
    return storage().getItem(name);
  } catch {
    return null;
  }
}

/** Store the text in this tab; null removes it. */
export function keep(name, text, storage = tab) {
  try {
    if (text === null) storage().removeItem(name);
    else storage().setItem(name, text);
  } catch {
    // the browser refuses storage; the page works without it
  }
}

let current = kept(KEY) ?? kept(KEY, browser);

addEventListener("storage", ({ key, oldValue, newValue }) => {
  const isReplaced = current !== null && current === oldValue;
  if (key !== KEY || (newValue !== null && !isReplaced)) return;
  if (newValue === null) keep(KEY, null);
  location.reload(); // another tab signed out, or in again: remove all data of the account from this page, too
});

/** Return the token, or null. */
export function token() {
  return current;
}

/** Return whether the token is the one that keeps this browser signed in, which may do less. */
export function isDeviceToken() {
  return current !== null && current === kept(KEY, browser);
}

export function signIn(text) {
  current = text;
  keep(KEY, text);
}

/**
 * Keep this browser signed in, in all tabs, with a device token of this name that the token in use makes. This tab uses it,
 * too, and forgets the token in use. The device token that the browser had before is revoked, if the service can be reached.
 */
export async function staySignedIn(name) {
  const made = await api("POST", "/accounts/me/device-tokens", { name });
  const before = kept(KEY, browser);
  keep(KEY, made.token, browser);
  keep(KEY, null);
  if (before !== null) {
    current = before;
    await api("DELETE", "/accounts/me/tokens/current").catch(() => null);
  }
  current = made.token;
}

/** Forget the token in use. If it was of this tab alone, use the one that keeps the browser signed in, if any. */
export function signOut() {
  if (isDeviceToken()) keep(KEY, null, browser);
  keep(KEY, null);
  current = kept(KEY, browser);
}

/** Sign out in all tabs, and revoke the device token. Return null, or a sentence if it could not be revoked. */
export async function leave() {
  const device = kept(KEY, browser);
  keep(KEY, null);
  keep(KEY, null, browser); // first, so that no tab uses a revoked token
  current = device;
  if (device === null) return null;
  try {
    await api("DELETE", "/accounts/me/tokens/current");
    return null;
  } catch (error) {
    if (error.status === 401) return null; // it has ended already
    return `You are signed out, but the token of this browser still works: ${error.message} Sign in and revoke it.`;
  } finally {
    current = null;
  }
}

/** Represent an error of the API: `status`, `code`, `message` for people, `fields` {name: message}. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `The service answered with status ${status}.`);
    this.status = status;
    this.code = problem.code ?? "";
    this.fields = Object.fromEntries((problem.errors ?? []).map(({ field, message }) => [field, message]));
  }
}

/** Return whether an error may be temporary: the service is unreachable, busy or limits the rate. */
export function isPassing(error) {
  return error instanceof Refused && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/**
 * Call the API (`path` below /api/v1) with the token, and return the JSON of the response, or null for none. Throw `Refused`,
 * with status 0 if the service cannot be reached. `key` is the Idempotency-Key.
 */
export async function api(method, path, body = undefined, { key = null } = {}) {
  return (await answered(method, path, body, { key })).said;
}

/** Call the API as `api` does, and return {said, etag}. With `ifMatch`, edits are refused if the resource has changed. */
export async function answered(method, path, body = undefined, { key = null, ifMatch = null } = {}) {
  const headers = { Accept: "application/json" };
  const shown = token();
  if (shown && !SENDABLE.test(shown)) throw new Refused(401, { code: "unauthenticated", detail: "This is not a token: it contains characters that no token has." });
  if (shown) headers.Authorization = `Bearer ${shown}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  if (ifMatch) headers["If-Match"] = ifMatch;
  let answer;
  try {
    answer = await fetch(`/api/v1${path}`, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Refused(0, { detail: "The service cannot be reached. Check whether the request was carried out before you repeat it." });
  }
  const text = await answer.text();
  let said = null;
  try {
    said = text ? JSON.parse(text) : null;
  } catch {
    said = {};
  }
  if (!answer.ok) throw new Refused(answer.status, said ?? {});
  return { said, etag: answer.headers.get("ETag") };
}
