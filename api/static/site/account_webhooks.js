// The webhooks of whoever is signed in: listed, made, pinged, deleted; what was sent to them.
import { fact, state, table } from "./account_bots.js";
import { copied } from "./copy.js";
import { element } from "./dom.js";
import { newKey, onSubmit, sureButton } from "./forms.js";
import { moment } from "./local_time.js";
import { api } from "./session.js";

const byId = (id) => document.getElementById(id);
let wired = false;

export async function showWebhooks() {
  const found = (await api("GET", "/webhooks?limit=100")).items;
  byId("webhook-list").replaceChildren(...found.map(card));
  if (wired) return;
  wired = true;
  onSubmit(byId("new-webhook"), make, { url: "url", events: "url" });
}

function card(hook) {
  const path = `/webhooks/${encodeURIComponent(hook.id)}`;
  const trouble = element("p", { class: "error", role: "alert", hidden: true });
  const sent = element("div");
  const act = (ask) => async () => {
    trouble.hidden = true;
    try {
      await ask();
    } catch (error) {
      trouble.hidden = false;
      trouble.textContent = error.message;
    }
  };
  const deliveries = act(async () => showDeliveries(sent, (await api("GET", `${path}/deliveries?limit=20`)).items));
  const ping = act(async () => {
    await api("POST", `${path}/ping`, undefined, { key: newKey() });
    await deliveries();
  });
  const remove = act(async () => {
    await api("DELETE", path);
    await showWebhooks();
  });
  return element("li", { class: "card" },
    element("h3", { class: "address" }, element("bdi", {}, hook.url), " ", state(hook.status)),
    hook.status_reason ? element("p", {}, hook.status_reason) : null,
    element("dl", { class: "facts" }, ...fact("Is told", hook.events.join(", ")), ...(hook.failing_since ? fact("Failing since", moment(hook.failing_since)) : [])),
    trouble,
    element("p", { class: "row" }, button("Ping", ping), button("What was sent", deliveries), sureButton("Delete", "Really delete?", remove)),
    sent);
}

function button(text, act) {
  const made = element("button", { type: "button" }, text);
  made.addEventListener("click", act);
  return made;
}

function showDeliveries(place, found) {
  if (!found.length) {
    place.replaceChildren(element("p", { class: "quiet" }, "Nothing yet."));
    return;
  }
  const rows = found.map((one) => element("tr", {},
    element("th", { scope: "row" }, one.event),
    element("td", { class: "when" }, moment(one.created_at)),
    element("td", {}, one.status),
    element("td", { class: "number" }, String(one.attempts)),
    element("td", {}, one.answer === null ? (one.problem ?? "–") : `status ${one.answer}`)));
  place.replaceChildren(table("What was sent", ["Event", "Made", "State", "Attempts", "Answer"], rows));
}

async function make({ url }) {
  const events = [...byId("new-webhook").querySelectorAll("[name=events]:checked")].map((box) => box.value);
  const made = await api("POST", "/webhooks", { url, events }, { key: newKey() });
  byId("fresh-webhook").replaceChildren(element("div", { class: "notice", role: "status" },
    element("p", {}, "The secret that signs what is sent to ", element("bdi", {}, made.url), ", shown this once:"), copied(made.secret, "the secret")));
  byId("new-webhook").reset();
  byId("make-webhook").open = false;
  await showWebhooks();
}
