// Let the owner of a bot decide who may challenge it to friendlies.
import { byId, fill } from "./dom.js";
import { fillForm, onSubmit } from "./forms.js";
import { api } from "./session.js";

/** Show the rules in the form; `done` reports that they were saved. `path` is the path of the bot in the API. */
export async function allowing(path, done) {
  const form = byId("friendly-rules");
  const show = ({ challengers, text }) => {
    fill(byId("own"), { friendlies: text });
    form.elements.challengers.value = challengers;
  };
  onSubmit(form, async ({ challengers }) => {
    show(await api("PATCH", `${path}/friendlies`, { challengers }));
    done("Saved.");
  });
  await fillForm(form, async () => show(await api("GET", `${path}/friendlies`)));
}
