// Let owners of bots in a friendly cancel it.
import { element } from "./dom.js";
import { newKey, sureButton } from "./forms.js";
import { api } from "./session.js";

/** Add the button to `place` if the signed-in account is one of the match's `owners`. */
export async function offerCancel(place, { id, owners }) {
  const account = await api("GET", "/accounts/me");
  if (!owners.includes(account.id)) return;
  const said = element("span", { role: "status" });
  const button = sureButton("Cancel this friendly", "Really cancel it?", async () => {
    button.disabled = true;
    try {
      await api("POST", `/matches/${id}/cancel`, undefined, { key: newKey() });
      said.textContent = "The friendly is cancelled.";
    } catch (error) {
      button.disabled = false;
      said.textContent = error.message;
    }
  });
  place.append(button, said);
}
