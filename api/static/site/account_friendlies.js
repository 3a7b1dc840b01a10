// Show the requests for friendlies of the account, and the accounts that it has accepted or blocked.
import { byId, element } from "./dom.js";
import { gameName } from "./figures.js";
import { attempts, newKey, onSubmit, wrong } from "./forms.js";
import { moment } from "./local_time.js";
import { api } from "./session.js";
import { table } from "./tables.js";

const ID = /acc_[0-9a-z]{26}/;
let wired = false;

export async function showFriendlies() {
  const [requests, listed] = await Promise.all([api("GET", "/friendly-requests?limit=50"), api("GET", "/challengers")]);
  showRequests(requests.items);
  showChallengers(listed.items);
  if (wired) return;
  wired = true;
  onSubmit(byId("new-challenger"), async ({ account, verdict }) => {
    const [id] = ID.exec(account) ?? [];
    if (!id) throw wrong("account", "Enter the id of an account, or the address of its page.");
    await api("PUT", `/challengers/${id}`, { verdict });
    byId("new-challenger").reset();
    await showFriendlies();
  });
}

function showRequests(found) {
  if (!found.length) {
    byId("request-list").replaceChildren(element("p", { class: "quiet" }, "There are no requests for friendlies."));
    return;
  }
  const rows = found.map((request) => [
    element("bdi", {}, request.created_by_name ?? "deleted account"),
    gameName(request.game),
    element("bdi", {}, request.bot_names.join(", ")),
    moment(request.created_at),
    request.match ? element("a", { href: `/matches/${encodeURIComponent(request.match)}` }, "accepted") : request.reason ? `${request.state}: ${request.reason}` : request.state,
    request.state === "pending" ? decisions(request) : "",
  ]);
  const columns = ["From", "Game", "Bots", { name: "Sent", kind: "when" }, "State", "Decision"];
  byId("request-list").replaceChildren(table("Requests for friendlies", columns, rows));
}

function decisions(request) {
  const { note, attempt } = attempts();
  const act = (name, done, body) => button(name, () => attempt(async () => {
    await api("POST", `/friendly-requests/${encodeURIComponent(request.id)}/${done}`, body, { key: newKey() });
    byId("request-said").textContent = `Done: ${name.toLowerCase()}.`;
    await showFriendlies();
  }));
  const buttons = request.waits_for_you ? [act("Accept", "accept"), act("Decline", "decline", {})] : [act("Withdraw", "withdraw")];
  return element("div", { class: "row" }, ...buttons, note);
}

function showChallengers(found) {
  if (!found.length) {
    byId("challenger-list").replaceChildren(element("p", { class: "quiet" }, "You have accepted and blocked nobody."));
    return;
  }
  const rows = found.map((entry) => {
    const { note, attempt } = attempts();
    const remove = button("Remove", () => attempt(async () => {
      await api("DELETE", `/challengers/${encodeURIComponent(entry.account)}`);
      await showFriendlies();
    }));
    return [element("a", { href: `/owners/${encodeURIComponent(entry.account)}` }, element("bdi", {}, entry.name ?? "deleted account")), entry.verdict, element("div", {}, remove, note)];
  });
  byId("challenger-list").replaceChildren(table("Accounts that you have accepted or blocked", ["Account", "Decision", "Remove"], rows, { hiddenCaption: true }));
}

function button(text, act) {
  const made = element("button", { type: "button" }, text);
  made.addEventListener("click", act);
  return made;
}
