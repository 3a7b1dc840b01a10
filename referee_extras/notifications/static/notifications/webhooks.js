// List, create, ping and delete the webhooks of the account, and show their deliveries.
import { fact } from "../site/account_bots.js";
import { copied } from "../site/copy.js";
import { byId, element } from "../site/dom.js";
import { attempts, newKey, onSubmit, sureButton } from "../site/forms.js";
import { statePill } from "../site/labels.js";
import { moment } from "../site/local_time.js";
import { api } from "../site/session.js";
import { table } from "../site/tables.js";

let wired = false;

export async function show() {
  const found = (await api("GET", "/webhooks?limit=100")).items;
  byId("webhook-list").replaceChildren(...found.map(card));
  if (wired) return;
  wired = true;
  onSubmit(byId("new-webhook"), make, { url: "url", events: "url" });
}

function card(hook) {
  const path = `/webhooks/${encodeURIComponent(hook.id)}`;
  const { note, attempt } = attempts();
  const sent = element("div");
  const act = (ask) => () => attempt(ask);
  const deliveries = act(async () => showDeliveries(sent, (await api("GET", `${path}/deliveries?limit=20`)).items));
  const ping = act(async () => {
    await api("POST", `${path}/ping`, undefined, { key: newKey() });
    await deliveries();
  });
  const remove = act(async () => {
    await api("DELETE", path);
    await show();
  });
  return element("li", { class: "card" },
    element("h3", { class: "address" }, element("bdi", {}, hook.url), " ", statePill(hook.status)),
    hook.status_reason ? element("p", {}, hook.status_reason) : null,
    element("dl", { class: "facts" }, ...fact("Format", hook.kind), ...fact("Notifications", hook.events.join(", ")), ...(hook.failing_since ? fact("Failing since", moment(hook.failing_since)) : [])),
    note,
    element("p", { class: "row" }, button("Ping", ping), button("Show deliveries", deliveries), sureButton("Delete", "Really delete?", remove)),
    sent);
}

function button(text, act) {
  const made = element("button", { type: "button" }, text);
  made.addEventListener("click", act);
  return made;
}

function showDeliveries(place, found) {
  if (!found.length) {
    place.replaceChildren(element("p", { class: "quiet" }, "There are no deliveries yet."));
    return;
  }
  const rows = found.map((delivery) => [
    delivery.event,
    moment(delivery.created_at),
    delivery.status,
    String(delivery.attempts),
    delivery.response_status === null ? (delivery.last_error ?? "–") : `status ${delivery.response_status}`,
  ]);
  const columns = ["Notification", { name: "Created", kind: "when" }, "State", { name: "Attempts", number: true }, "Response"];
  place.replaceChildren(table("Deliveries", columns, rows, { hiddenCaption: true }));
}

async function make({ kind, url }) {
  const events = [...byId("new-webhook").querySelectorAll("[name=events]:checked")].map((box) => box.value);
  const made = await api("POST", "/webhooks", { kind, url, events }, { key: newKey() });
  if (made.secret === null) byId("fresh-webhook").replaceChildren(element("p", { class: "notice", role: "status" }, "Created. A test message is on its way to the channel."));
  else byId("fresh-webhook").replaceChildren(element("div", { class: "notice", role: "status" },
    element("p", {}, "The secret that signs deliveries to ", element("bdi", {}, made.url), ". It is shown only once:"), copied(made.secret, "the secret")));
  byId("new-webhook").reset();
  byId("make-webhook").open = false;
  await show();
}
