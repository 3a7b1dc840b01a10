// Let the owner of a bot decide who may challenge it to friendlies, and in which hours.
import { byId, fill } from "./dom.js";
import { fillForm, onSubmit, wrong } from "./forms.js";
import { api } from "./session.js";

/** Show the rules in the form; `done` reports that they were saved. `path` is the path of the bot in the API. */
export async function allowing(path, done) {
  const form = byId("friendly-rules");
  const show = ({ challengers, hours, text }) => {
    fill(byId("own"), { friendlies: text });
    form.elements.challengers.value = challengers;
    form.elements.begin.value = hours?.begin ?? "";
    form.elements.end.value = hours?.end ?? "";
    form.elements.time_zone.value = hours?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  };
  onSubmit(form, async ({ challengers, begin, end, time_zone }) => {
    if (Boolean(begin) !== Boolean(end)) throw wrong(begin ? "end" : "begin", "Enter both times, or none.");
    const hours = begin ? { begin, end, time_zone } : null;
    show(await api("PATCH", `${path}/friendlies`, { challengers, hours }));
    done("Saved.");
  }, { hours: "begin", "hours.begin": "begin", "hours.end": "end", "hours.time_zone": "time_zone" });
  await fillForm(form, async () => show(await api("GET", `${path}/friendlies`)));
}
