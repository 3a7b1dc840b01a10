// Show the number of unread entries of the inbox beside the link to the account, on every page of a signed-in person.
import { element } from "../site/dom.js";
import { Refused, api } from "../site/session.js";

/** Show the number beside the link to the account; 0 removes it. */
export function showUnread(unread) {
  const link = document.querySelector('.top nav a[href="/account"]');
  if (!link) return;
  link.querySelector(".unread-count")?.remove();
  if (unread) link.append(element("span", { class: "unread-count" }, ` (${unread}`, element("span", { class: "unseen" }, " unread"), ")"));
}

try {
  showUnread((await api("GET", "/accounts/me/inbox/unread")).unread);
} catch (error) {
  if (!(error instanceof Refused)) throw error; // the page itself tells what the API refuses
}
