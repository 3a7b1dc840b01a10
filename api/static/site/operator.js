// The operator's page: accounts, requests for the role of an organiser, and the list of acts.
import { element } from "./dom.js";
import { newKey } from "./forms.js";
import { moment } from "./local_time.js";
import { showHealth } from "./operator_health.js";
import { inWords, signedIn } from "./organise-shared.js";
import { api, token } from "./session.js";

const part = (selector) => document.querySelector(selector);
const sections = [...document.querySelectorAll("[data-script]")]; // of extras
let accountsQuery = "";

signedIn(async (account) => {
  const isOperator = account.role === "admin";
  part("[data-no-operator]").hidden = isOperator;
  try {
    if (isOperator) await Promise.all([lookAtAll(), ...sections.map(showSection)]);
  } finally {
    part("[data-operator]").hidden = !isOperator; // once it is filled, so that nothing moves
  }
});
part("[data-find]").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = event.target.elements.name.value.trim();
  accountsQuery = name ? `&name=${encodeURIComponent(name)}` : "";
  attempt(() => listAccounts());
});
for (const button of document.querySelectorAll("[data-download]")) button.addEventListener("click", () => attempt(() => download(button.dataset.download)));

async function lookAtAll() {
  await Promise.all([showHealth(part("[data-health]")), listRequests(), listAccounts(), listActs()]);
}

/** Let the script of a section fill it. */
async function showSection(section) {
  const { show } = await import(section.dataset.script);
  await show(section, () => attempt(() => Promise.all([listAccounts(), listActs()])));
}

/** Call `act`, and show its error on the page. */
async function attempt(act) {
  part("[data-refusal]").textContent = "";
  try {
    await act();
  } catch (refused) {
    part("[data-refusal]").textContent = inWords(refused);
  }
}

async function listRequests() {
  const { items } = await api("GET", "/organiser-requests");
  part("[data-no-requests]").hidden = items.length > 0;
  part("[data-requests]").replaceChildren(
    ...items.map(({ account, name, text }) =>
      element(
        "li",
        { class: "row" },
        element("span", {}, element("bdi", {}, name), ": ", element("q", { dir: "auto" }, text)),
        action("Give the role", `Make ${name} an organiser?`, `/accounts/${account}/role`, { role: "organiser" }),
        action("Refuse", `Refuse the request of ${name}?`, `/organiser-requests/${account}/refuse`, {}),
      ),
    ),
  );
}

async function listAccounts(cursor = null) {
  const { items, next } = await api("GET", `/accounts?limit=50${accountsQuery}${cursor ? `&cursor=${cursor}` : ""}`);
  const rows = items.map(accountRow);
  if (cursor) part("[data-accounts]").append(...rows);
  else part("[data-accounts]").replaceChildren(...rows);
  more("[data-more-accounts]", next, listAccounts);
}

function accountRow({ id, name, role, created_at, suspended_at, suspension_reason, deleted_at }) {
  const cells = (state, ...buttons) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, element("a", { href: `/owners/${id}` }, element("bdi", {}, name))),
      element("td", {}, role),
      element("td", {}, moment(created_at)),
      element("td", {}, state),
      element("td", {}, element("div", { class: "row" }, ...buttons)),
    );
  if (deleted_at) return cells(`deleted ${moment(deleted_at)}`);
  const buttons = [action("Rename…", `Rename ${name}?`, `/accounts/${id}/rename`, {}, { withName: name, nameLabel: "New name" })];
  if (role === "owner") buttons.push(action("Make organiser…", `Make ${name} an organiser?`, `/accounts/${id}/role`, { role: "organiser" }));
  if (role === "organiser") buttons.push(action("Take the role…", `Take the role of an organiser from ${name}?`, `/accounts/${id}/role`, { role: "owner" }));
  if (role !== "admin") {
    buttons.push(
      suspended_at
        ? action("Restore…", `End the suspension of ${name}?`, `/accounts/${id}/restore`, {})
        : action("Suspend…", `Suspend ${name}? All its requests are refused, and its bots are paused.`, `/accounts/${id}/suspend`, {}),
      action("Delete…", `Delete ${name} and its bots for good?`, `/accounts/${id}/delete`, {}, { nameLabel: "Type the name to confirm" }),
    );
  }
  return cells(suspended_at ? `suspended ${moment(suspended_at)}: ${suspension_reason}` : "active", ...buttons);
}

async function listActs(cursor = null) {
  const { items, next } = await api("GET", `/acts?limit=50${cursor ? `&cursor=${cursor}` : ""}`);
  const rows = items.map(({ at, account_name, kind, object, tournament, reason, details }) =>
    element(
      "tr",
      {},
      element("td", {}, moment(at)),
      element("td", {}, element("bdi", {}, account_name)),
      element("th", { scope: "row" }, kind.replaceAll("_", " ").replace(".", ": ")),
      element("td", {}, tournament ? element("a", { href: `/tournaments/${tournament}` }, object) : object),
      element("td", {}, [reason, Object.keys(details).length ? JSON.stringify(details) : ""].filter(Boolean).join(" · ")),
    ),
  );
  if (cursor) part("[data-acts]").append(...rows);
  else part("[data-acts]").replaceChildren(...rows);
  more("[data-more-acts]", next, listActs);
}

function more(selector, next, list) {
  const button = part(selector);
  button.hidden = !next;
  button.onclick = () => attempt(() => list(next));
}

/** Return a button that asks for a reason and, with `nameLabel`, for a name, then sends `body` to `path`. */
function action(label, question, path, body, { withName = "", nameLabel = null } = {}) {
  const button = element("button", { type: "button" }, label, element("span", { class: "unseen" }, ` ${question}`));
  button.addEventListener("click", () => {
    const dialog = part("#change");
    const key = newKey();
    part("#change-title").textContent = question;
    part("[data-name-field]").hidden = nameLabel === null;
    part("[data-name-field] label").textContent = nameLabel ?? "";
    part("#change-name").value = withName;
    part("#change-reason").value = "";
    part("[data-change-refusal]").textContent = "";
    part("#change [data-no]").onclick = () => dialog.close();
    part("#change form").onsubmit = async (event) => {
      event.preventDefault();
      const reason = part("#change-reason").value.trim();
      const name = nameLabel === null ? {} : { name: part("#change-name").value.trim() };
      try {
        await api("POST", path, { ...body, ...name, ...(reason && { reason }) }, { key });
        dialog.close();
        await attempt(lookAtAll);
      } catch (refused) {
        part("[data-change-refusal]").textContent = inWords(refused);
      }
    };
    dialog.showModal();
  });
  return button;
}

async function download(format) {
  const answer = await fetch(`/api/v1/acts.${format}`, { headers: { Authorization: `Bearer ${token()}` } });
  if (!answer.ok) throw new Error(`The service answered ${answer.status}.`);
  const link = element("a", { href: URL.createObjectURL(await answer.blob()), download: `acts.${format}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
