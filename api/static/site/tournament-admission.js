// Let organisers decide who may enter: the join code, the guests, and requests that wait for approval.
import { element } from "./dom.js";
import { fillForm, newKey } from "./forms.js";
import { ask, inWords, onSend } from "./organise-shared.js";
import { api } from "./session.js";

/** Fill in the form for the join code and the guests of the tournament `id`, and send it. */
export async function admission(form, id) {
  const show = ({ join_code, guests }) => {
    form.elements.join_code.value = join_code ?? "";
    form.elements.guests.value = guests.map(({ name }) => name).join("\n");
  };
  onSend(form, async (key) => {
    const said = form.querySelector("[data-done]");
    said.textContent = "";
    const guests = form.elements.guests.value.split("\n").map((name) => name.trim()).filter(Boolean);
    show(await api("PUT", `/tournaments/${id}/admission`, { join_code: form.elements.join_code.value.trim() || null, guests }, { key }));
    said.textContent = "Who may enter is saved.";
  });
  await fillForm(form, async () => show(await api("GET", `/tournaments/${id}/admission`)));
}

/** List the requests that wait, each with buttons that decide about it. */
export async function requests(section, id) {
  section.dataset.filled = "";
  const list = section.querySelector("[data-list]");
  const look = async () => {
    const { items } = await api("GET", `/tournaments/${id}/requests`);
    const waiting = items.filter(({ refused_at }) => !refused_at);
    section.querySelector("[data-none]").hidden = waiting.length > 0;
    list.replaceChildren(...waiting.map(row));
  };
  const row = ({ bot, name }) => {
    const approve = element("button", { type: "button", class: "primary", "aria-label": `Approve ${name}` }, "Approve");
    const refuse = element("button", { type: "button", class: "danger", "aria-label": `Refuse ${name}…` }, "Refuse…");
    approve.addEventListener("click", async () => {
      const said = section.querySelector("[data-refusal]");
      said.textContent = "";
      approve.disabled = true;
      try {
        await api("POST", `/tournaments/${id}/requests/${bot}/approve`, undefined, { key: newKey() });
        await look();
      } catch (refused) {
        said.textContent = `${name}: ${inWords(refused)}`;
        approve.disabled = false;
      }
    });
    refuse.addEventListener("click", async () => {
      const text = "Its owner cannot ask again. You can still invite the owner to enter it.";
      const done = await ask({ title: `Refuse ${name}?`, text, withReason: true }, ({ reason, key }) =>
        api("POST", `/tournaments/${id}/requests/${bot}/refuse`, { reason }, { key }),
      );
      if (done) await look();
    });
    return element("li", { class: "row" }, element("a", { href: `/bots/${bot}` }, element("bdi", {}, name)), " ", approve, " ", refuse);
  };
  await look();
}

/** List the account's own requests beside the form with which it asks. */
export async function ownRequests(list, id) {
  const { items } = await api("GET", `/tournaments/${id}/requests`);
  list.dataset.filled = "";
  list.hidden = !items.length;
  list.replaceChildren(
    ...items.map(({ name, refused_at, reason }) =>
      element("li", {}, element("bdi", {}, name), refused_at ? `: refused${reason ? `, ${reason}` : ""}` : ": waits for the organiser"),
    ),
  );
}
