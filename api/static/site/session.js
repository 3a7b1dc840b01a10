// Call the API as the signed-in account. Its token is stored only in this tab and sent only to this service.

const KEY = "referee.token";
const SENDABLE = /^[\x21-\x7e]+$/; // characters allowed in a header

/** Return the text stored in this tab under `name`, or null if there is none or the browser refuses storage. */
export function kept(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Store the text in this tab; null removes it. */
export function keep(name, text) {
  try {
    if (text === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
  } catch {
    // the browser refuses storage; the page works without it
  }
}

let current = kept(KEY);

/** Return the token, or null. */
export function token() {
  return current;
}

export function signIn(text) {
  current = text;
  keep(KEY, text);
}

export function signOut() {
  current = null;
  keep(KEY, null);
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
