// Show the invitations that wait for the account, and let it accept or decline them.
import { byId, element } from "./dom.js";
import { attempts, newKey } from "./forms.js";
import { moment } from "./local_time.js";
import { api } from "./session.js";

const CONSEQUENCE = "If you accept, you may do everything there that its organisers may, your name is shown with theirs, and you take it over if the account that created it leaves before you. You can leave at any time.";

/** Fill the list. Call `accepted` after a bot was entered. */
export async function showInvitations(accepted) {
  const { items } = await api("GET", "/invitations?pending=true&limit=100");
  byId("invitation-list").replaceChildren(...items.map((invitation) => item(invitation, accepted)));
  byId("no-invitations").hidden = items.length > 0;
}

function item(invitation, accepted) {
  const { note, attempt } = attempts();
  const decide = (text, verb) => {
    const button = element("button", { type: "button", "aria-label": `${text}: ${invitation.name}` }, text);
    button.addEventListener("click", () => attempt(async () => {
      await api("POST", `/invitations/${encodeURIComponent(invitation.id)}/${verb}`, undefined, { key: newKey() });
      byId("invitation-said").textContent = verb === "accept" ? "Accepted." : "Declined.";
      await showInvitations(accepted);
      if (verb === "accept") await accepted();
    }));
    return button;
  };
  const place = invitation.tournament ? `/tournaments/${invitation.tournament}` : `/${invitation.kind}/${invitation[invitation.kind]}`;
  const name = element("a", { href: place }, element("bdi", {}, invitation.name));
  const asks = invitation.bot ? [" asks to enter your bot ", element("bdi", {}, invitation.bot_name), " in ", name, "."] : [` asks you to run the ${invitation.kind} `, name, ", too."];
  return element("li", {},
    element("p", {}, element("bdi", {}, invitation.invited_by_name), ...asks, " ", element("span", { class: "quiet" }, moment(invitation.created_at))),
    invitation.bot ? null : element("p", { class: "quiet" }, CONSEQUENCE),
    note,
    element("p", { class: "row" }, decide("Accept", "accept"), decide("Decline", "decline")),
  );
}
