// Read the API without a token.

/** Return the JSON of a GET request to `path` without a token. Throw an error with words for people if it is refused. */
export async function readPublic(path) {
  const answer = await fetch(`/api/v1${path}`, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error((await answer.json().catch(() => null))?.detail ?? `status ${answer.status}`);
  return answer.json();
}
