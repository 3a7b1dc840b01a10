// Who is at the keyboard: a token, kept in this tab alone and sent to this service's API alone.

const KEY = "referee.token";
const SENDABLE = /^[\x21-\x7e]+$/; // what a header takes; all else is no token

/** What this tab keeps under a name: text or null. A browser that keeps nothing for pages has nothing. */
export function kept(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keeps the text in this tab, null forgets it. Where nothing is kept it lasts as long as the page. */
export function keep(name, text) {
  try {
    if (text === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
  } catch {
    // refused by the browser's settings: the page works without
  }
}

let current = kept(KEY);

/** The token, or null. */
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

/** What the API refused: `status`, `code`, `message` for people, `fields` {name: message}. */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `The service answered with status ${status}.`);
    this.status = status;
    this.code = problem.code ?? "";
    this.fields = Object.fromEntries((problem.errors ?? []).map(({ field, message }) => [field, message]));
  }
}

/** Whether a refusal may be gone by itself after a while: out of reach, too busy, too often. */
export function isPassing(error) {
  return error instanceof Refused && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/**
 * Asks the API (`path` below /api/v1) as whoever is signed in and gives the answer's JSON, null for none. Throws `Refused`,
 * with status 0 when the service cannot be reached. `key` makes a repeated wish count once.
 */
export async function api(method, path, body = undefined, { key = null } = {}) {
  return (await answered(method, path, body, { key })).said;
}

/** The same with the answer's validator: {said, etag}. An edit under `ifMatch` is refused when another came first. */
export async function answered(method, path, body = undefined, { key = null, ifMatch = null } = {}) {
  const headers = { Accept: "application/json" };
  const shown = token();
  if (shown && !SENDABLE.test(shown)) throw new Refused(401, { code: "unauthenticated", detail: "This is no token: it holds characters that none has." });
  if (shown) headers.Authorization = `Bearer ${shown}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  if (ifMatch) headers["If-Match"] = ifMatch;
  let answer;
  try {
    answer = await fetch(`/api/v1${path}`, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Refused(0, { detail: "The service cannot be reached; nothing is known to have changed." });
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
