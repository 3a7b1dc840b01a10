// Create and edit a draft: a form of all terms, with the API's errors beside their fields.
import { element } from "./dom.js";
import { statePill } from "./labels.js";
import { newKey } from "./forms.js";
import { instantOf, instantsOf, inWords, localInput, mayRun, onSend, signedIn } from "./organise-shared.js";
import { answered, api, keep, kept, Refused } from "./session.js";

const DRAFT = "referee.draft-tournament"; // the unsent form, stored in this tab
const form = document.getElementById("terms");
const head = document.querySelector("[data-tournament]");
let etag = form?.dataset.etag ?? null; // of the draft shown, so that changes made elsewhere are not overwritten

signedIn(async (account) => {
  const may = !head || mayRun(account, head.dataset.organiserId);
  if (head) {
    document.querySelector("[data-not-yours]").hidden = may;
    const { begin } = await import("./tournament-organise.js");
    await begin(head);
  }
  try {
    if (!head) await Promise.all([listOwn(account), account.role === "owner" && asOwner()]);
  } finally {
    if (form && may) form.hidden = false; // after what is above it, so that it does not move
  }
});
if (form) prepare();

function prepare() {
  form.dataset.filled = "";
  const isNew = form.dataset.method === "POST";
  for (const input of form.querySelectorAll('[data-type="moment"]')) input.value = localInput(input.dataset.value);
  for (const input of form.querySelectorAll('[data-type="moments"]')) {
    const times = input.dataset.value.split(" ").filter(Boolean);
    input.value = times.map((time) => localInput(time).replace("T", " ")).join("\n");
  }
  if (isNew) recall();
  for (const button of form.querySelectorAll("[data-preset]")) button.addEventListener("click", () => usePreset(button));
  form.elements.format?.addEventListener("change", fit);
  form.elements.game?.addEventListener("change", () => {
    fit();
    const [least, most] = form.elements.game.selectedOptions[0].dataset.seats.split(" ").map(Number);
    form.elements.seats.value = Math.min(Math.max(Number(form.elements.seats.value), least), most);
  });
  form.elements.deal_sharing?.addEventListener("change", fit);
  fit();
  let key = newKey();
  let busy = false;
  form.addEventListener("input", () => {
    key = newKey();
    if (isNew) remember();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    clear();
    try {
      const { said: made, etag: next } = await answered(form.dataset.method, form.dataset.path, terms(), { key, ifMatch: etag });
      etag = next ?? etag;
      if (!isNew) {
        form.querySelector("[data-done]").textContent = "The changes are saved.";
        key = newKey();
        return;
      }
      keep(DRAFT, null);
      location.assign(`/tournaments/${made.id}/organise`);
    } catch (refused) {
      if (refused.status === 412) await overtaken().catch(refuse);
      else refuse(refused);
      if (refused.status) key = newKey();
    } finally {
      busy = false;
    }
  });
}

/** Fill the form with the terms of a preset. The name, the game, the seats and the announcement stay. */
function usePreset(button) {
  const { format_options: options, time, ...values } = JSON.parse(document.getElementById("presets").textContent)[button.dataset.preset];
  const given = new Map(Object.entries(values));
  for (const [name, value] of Object.entries(options)) given.set(`format_options.${name}`, value);
  for (const [name, value] of Object.entries(time)) given.set(`time.${name}`, value);
  if (!("rounds" in options)) given.set("format_options.rounds", null);
  for (const [name, value] of given) {
    const input = form.elements[name];
    if (input?.type === "checkbox") input.checked = value;
    else if (input) input.value = value ?? "";
  }
  fit();
  form.dispatchEvent(new Event("input"));
  const title = button.closest("li").querySelector("strong").textContent;
  form.querySelector("[data-preset-done]").textContent = `${title}: the form below is filled in. Choose a name and a game; you can change everything else under “More terms”.`;
}

/** Show the fields of the chosen game, format and deal sharing. Hidden fields are not sent. */
function fit() {
  if (!form.elements.format) return; // only the announcement can be changed
  const game = (form.elements.game ?? document.getElementById("game")).value;
  const format = form.elements.format;
  const chosen = [
    ["[data-game]", (part) => part.dataset.game === game],
    ["[data-formats]", (part) => part.dataset.formats.split(" ").includes(format.value)],
    ["[data-deals]", (part) => part.dataset.deals === form.elements.deal_sharing.value],
  ];
  for (const [selector, fits] of chosen) {
    for (const part of form.querySelectorAll(selector)) part.hidden = part.disabled = !fits(part);
  }
  document.getElementById("format-hint").textContent = format.selectedOptions[0].dataset.means;
}

/** Return the terms as a body for the API: nest names with dots, and leave out empty fields. */
function terms() {
  const body = {};
  for (const input of form.querySelectorAll("[data-type]")) {
    if (input.matches(":disabled")) continue;
    const value = valueOf(input);
    const [outer, inner] = input.name.split(".");
    const place = inner ? (body[outer] ??= {}) : body;
    if (input.dataset.type === "list") (place[inner] ??= []).push(...(input.checked ? [input.value] : []));
    else if (value !== undefined) place[inner ?? outer] = value;
  }
  return body;
}

function valueOf(input) {
  switch (input.dataset.type) {
    case "int":
      return input.value === "" ? (input.dataset.empty === "null" ? null : undefined) : Number(input.value);
    case "bool":
      return input.checked;
    case "or-null":
      return input.value.trim() || null;
    case "if-given":
      return input.value || undefined;
    case "moments":
      return instantsOf(input);
    case "moment":
      return instantOf(input);
    default:
      return input.value.trim();
  }
}

function clear() {
  for (const error of form.querySelectorAll("[data-error-for]")) error.textContent = "";
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  form.querySelector("[data-summary]").hidden = true;
  form.querySelector("[data-refusal]").textContent = "";
  const done = form.querySelector("[data-done]");
  if (done) done.textContent = "";
}

/** Show each error beside its field and in a summary above the form, which gets the focus. */
function refuse(refused) {
  const summary = form.querySelector("[data-summary]");
  const fields = refused instanceof Refused ? Object.entries(refused.fields) : [];
  if (!fields.length) {
    form.querySelector("[data-refusal]").textContent = inWords(refused);
    return;
  }
  const list = element("ul");
  for (const [field, message] of fields) {
    const inputs = [...form.querySelectorAll(`[name="${CSS.escape(field)}"]`)].filter((input) => !input.matches(":disabled"));
    const place = [...form.querySelectorAll(`[data-error-for="${CSS.escape(field)}"]`)].find((error) => !error.closest("[disabled]"));
    if (place) place.textContent = message;
    for (const input of inputs) input.setAttribute("aria-invalid", "true");
    (place ?? inputs[0])?.closest("details")?.setAttribute("open", "");
    const name = inputs[0]?.labels?.[0]?.textContent.trim() ?? field;
    list.append(element("li", {}, inputs[0] ? element("a", { href: `#${inputs[0].id}` }, name) : name, `: ${message}`));
  }
  summary.replaceChildren(element("p", {}, "Nothing was saved. Correct these fields:"), list);
  summary.hidden = false;
  summary.focus();
}

/** Tell the user that the draft was changed elsewhere. Saving again overwrites those changes. */
async function overtaken() {
  ({ etag } = await answered("GET", form.dataset.path));
  const now = element("a", { href: location.pathname.replace(/\/organise$/, ""), target: "_blank", rel: "noopener" }, "See its present terms");
  form.querySelector("[data-refusal]").replaceChildren("The draft was changed elsewhere, and nothing was saved. ", now, "; save again to replace them with yours.");
}

/** Prepare the form for a private tournament, and let the owner ask for the role of an organiser. */
async function asOwner() {
  const section = document.querySelector("[data-for-owner]");
  const ask = section.querySelector("[data-ask-role]");
  const said = ask.querySelector("[data-done]");
  section.hidden = false;
  section.dataset.filled = "";
  form.elements.rated.checked = form.elements.listed.checked = false;
  const { items } = await api("GET", "/accounts/me/organiser-request");
  if (items.length) said.textContent = items[0].refused_at ? `The operator refused: ${items[0].reason ?? "no reason was given"}` : "Your request waits for the operator.";
  onSend(ask, async (key) => {
    await api("POST", "/accounts/me/organiser-request", { text: ask.elements.text.value.trim() }, { key });
    said.textContent = "Your request waits for the operator.";
  });
}

async function listOwn(account) {
  const section = document.querySelector("[data-own-tournaments]");
  const list = section.querySelector("[data-list]");
  const own = account.role === "admin" ? "" : `&organiser=${account.id}`;
  const lists = await Promise.all(["draft", "open", "running", "paused"].map((status) => api("GET", `/tournaments?status=${status}&limit=100${own}`)));
  const found = lists.flatMap(({ items }) => items);
  section.hidden = !found.length;
  list.replaceChildren(
    ...found.map(({ id, name, status }) =>
      element(
        "li",
        {},
        element("a", { href: `/tournaments/${id}/organise` }, element("bdi", {}, name)),
        " ",
        statePill(status),
      ),
    ),
  );
}

function remember() {
  const typed = [...form.querySelectorAll("[data-type]")].map((input) => [input.id || `${input.name}=${input.value}`, input.type === "checkbox" ? input.checked : input.value]);
  keep(DRAFT, JSON.stringify(typed));
}

function recall() {
  let typed;
  try {
    typed = new Map(JSON.parse(kept(DRAFT) ?? "[]"));
  } catch {
    return;
  }
  for (const input of form.querySelectorAll("[data-type]")) {
    const value = typed.get(input.id || `${input.name}=${input.value}`);
    if (value === undefined) continue;
    if (input.type === "checkbox") input.checked = value === true;
    else input.value = String(value);
  }
}
