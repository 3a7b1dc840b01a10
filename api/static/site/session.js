// Who is at the keyboard: a token, kept in this tab alone and sent to this service's API alone.

const KEY = "referee.token";

/** The token, or null. */
export function token() {
  return sessionStorage.getItem(KEY);
}

export function signIn(text) {
  sessionStorage.setItem(KEY, text);
}

export function signOut() {
  sessionStorage.removeItem(KEY);
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
