// The part of the operator's page that creates the accounts of a class, and shows their tokens once.
import { element } from "../site/dom.js";
import { newKey } from "../site/forms.js";
import { inWords } from "../site/organise-shared.js";
import { api, Refused } from "../site/session.js";

/** Handle the form in `section`, and call `created` after accounts were created. */
export function show(section, created) {
  const part = (selector) => section.querySelector(selector);
  let key = newKey();
  part("form").addEventListener("input", () => (key = newKey()));
  part("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const lines = linesOf(part("textarea").value);
    const button = part("form button");
    button.disabled = true;
    part("[data-class-refusal]").replaceChildren();
    try {
      const body = { names: lines.map(({ name }) => name), new_tokens: part("[data-new-tokens]").checked };
      const { items } = await api("POST", "/accounts/class", body, { key });
      part("[data-members]").replaceChildren(...items.map(memberRow));
      part("[data-made]").hidden = false;
      part("[data-made]").focus();
      key = newKey();
      await created();
    } catch (refused) {
      if (refused.status) key = newKey();
      part("[data-class-refusal]").replaceChildren(...sentences(refused, lines).map((text) => element("li", {}, text)));
    } finally {
      button.disabled = false;
    }
  });
}

/** Return the lines with names, with their numbers from 1. Lines that begin with # are comments. */
function linesOf(text) {
  const lines = text.split("\n").map((line, index) => ({ number: index + 1, name: line.trim() }));
  return lines.filter(({ name }) => name && !name.startsWith("#"));
}

/** Return a sentence for each line that was refused, or one for the refusal as a whole. */
function sentences(refused, lines) {
  const fields = refused instanceof Refused ? Object.entries(refused.fields) : [];
  const found = fields.map(([field, message]) => [lines[Number(field.replace("names.", ""))], message]);
  if (!found.length || found.some(([line]) => !line)) return [inWords(refused)];
  return found.map(([line, message]) => `Line ${line.number}, “${line.name}”: ${message}`);
}

function memberRow({ account, is_new, token }) {
  const state = is_new ? "created" : token ? "exists, new token" : "exists";
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("bdi", {}, account.name)),
    element("td", {}, state),
    element("td", {}, token ? element("code", {}, token.token) : "none"),
  );
}
