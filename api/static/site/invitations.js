// Let organisers invite and remove organisers of a tournament or a series, and withdraw invitations.
import { element } from "./dom.js";
import { newKey } from "./forms.js";
import { ask, inWords, onSend } from "./organise-shared.js";
import { api } from "./session.js";

/** Let the form invite a co-organiser to the tournament or series at `path`. */
export function wireInvitationForm(form, path) {
  onSend(form, async (key) => {
    await api("POST", `${path}/organisers`, { account: form.elements.account.value.trim() }, { key });
    location.reload();
  });
}

/** Let the button remove an organiser, or the signed-in `account` itself, from the tournament or series at `path`. */
export function wireRemoveButton(button, path, account) {
  const { removeOrganiser: id, name } = button.dataset;
  const isOwn = id === account.id;
  if (isOwn) button.textContent = "Leave…";
  button.hidden = !isOwn && "first" in button.dataset;
  const title = isOwn ? "Leave the organisers?" : `Remove ${name} from the organisers?`;
  const text = isOwn ? "You can run it no longer, and your name is no longer shown with it. If you created it or took it over, its first co-organiser takes it over." : "The account can run it no longer.";
  button.addEventListener("click", async () => {
    if (await ask({ title, text }, () => api("DELETE", `${path}/organisers/${id}`))) location.reload();
  });
}

/** List the invitations that wait, each with a button that withdraws it. */
export async function showSentInvitations(list) {
  list.dataset.filled = "";
  const { items } = await api("GET", `/invitations?pending=true&limit=100&${list.dataset.invitations}`);
  list.replaceChildren(...(items.length ? items.map(row) : [element("li", { class: "quiet" }, "none")]));
}

function row({ id, account_name: account, bot, bot_name: botName }) {
  const about = bot ? [element("a", { href: `/bots/${encodeURIComponent(bot)}` }, element("bdi", {}, botName)), ", to be entered: ", element("bdi", {}, account), " decides"] : [element("bdi", {}, account), ", as an organiser"];
  const withdraw = element("button", { type: "button", "aria-label": `Withdraw the invitation of ${botName ?? account}` }, "Withdraw");
  const note = element("span", { class: "error", role: "alert" });
  const made = element("li", { class: "row" }, element("span", {}, ...about), withdraw, note);
  withdraw.addEventListener("click", async () => {
    withdraw.disabled = true;
    try {
      await api("POST", `/invitations/${id}/withdraw`, undefined, { key: newKey() });
      made.remove();
    } catch (refused) {
      note.textContent = inWords(refused);
      withdraw.disabled = false;
    }
  });
  return made;
}
