// Show the inbox of the account page by page, and mark entries as read.
import { byId, element } from "../site/dom.js";
import { attempts, newKey } from "../site/forms.js";
import { showUnread } from "./inbox_count.js";
import { moment } from "../site/local_time.js";
import { api } from "../site/session.js";

const PAGE = 20;
const { note, attempt } = attempts();
let next = null;
let wired = false;

export async function show() {
  byId("inbox-list").replaceChildren();
  await showPage("");
  if (wired) return;
  wired = true;
  byId("inbox-list").after(note);
  byId("inbox-more").addEventListener("click", () => attempt(() => showPage(`&cursor=${encodeURIComponent(next)}`)));
  byId("inbox-read").addEventListener("click", () => attempt(async () => {
    showUnread((await api("POST", "/accounts/me/inbox/read", {}, { key: newKey() })).unread);
    await show();
  }));
}

async function showPage(cursor) {
  const page = await api("GET", `/accounts/me/inbox?limit=${PAGE}${cursor}`);
  next = page.next;
  byId("inbox-list").append(...page.items.map(item));
  byId("inbox-more").hidden = next === null;
  byId("no-inbox").hidden = byId("inbox-list").childElementCount > 0;
  byId("inbox-read").hidden = !byId("inbox-list").querySelector(".unread");
}

function item(entry) {
  const unread = entry.read_at === null;
  return element("li", { class: unread ? "unread" : null },
    unread ? element("strong", {}, "New: ") : "", element("a", { href: entry.path }, element("bdi", {}, entry.text)), " ",
    element("span", { class: "quiet" }, moment(entry.created_at)));
}
