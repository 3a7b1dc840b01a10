// Let organisers enter bots that they find by name, several in one step, or all that may be entered.
import { element } from "./dom.js";
import { newKey } from "./forms.js";
import { showSentInvitations } from "./invitations.js";
import { ask, inWords, onSend } from "./organise-shared.js";
import { api, isPassing, Refused } from "./session.js";

const SHOWN = 50; // bots in the list

/** Return the items of all pages of a list of the API. `path` has a query. */
export async function listAll(path) {
  const items = [];
  for (let cursor = ""; cursor !== null; ) {
    const page = await api("GET", `${path}&limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    items.push(...page.items);
    cursor = page.next;
  }
  return items;
}

/** Show the form with which the organiser `account` of the tournament `id` enters bots. Owners who want to be asked are asked. */
export function enterMany(form, id, account) {
  const { game } = form.dataset;
  const found = form.querySelector("[data-found]");
  const outcomes = form.querySelector("[data-outcomes]");
  const done = form.querySelector("[data-done]");
  const chosen = new Set(); // ids
  let loading = null;

  const load = () => (loading ??= listEnterable(id, game).catch((error) => {
    loading = null; // the next input tries again
    throw error;
  }));
  const count = (fitting) => (form.querySelector("[data-count]").textContent = `${fitting} found${fitting > SHOWN ? `, the first ${SHOWN} are shown` : ""}; ${chosen.size} chosen.`);
  const show = async () => {
    const bots = await load();
    const words = form.elements.name.value.trim().toLowerCase();
    const fitting = bots.filter(({ name, owner_name: owner }) => `${name}\n${owner}`.toLowerCase().includes(words));
    const shown = [...bots.filter((bot) => chosen.has(bot.id) && !fitting.includes(bot)), ...fitting.slice(0, SHOWN)];
    found.replaceChildren(...shown.map(row));
    for (const box of found.querySelectorAll("input")) {
      box.checked = chosen.has(box.value);
      box.addEventListener("change", () => {
        chosen[box.checked ? "add" : "delete"](box.value);
        count(fitting.length);
      });
    }
    count(fitting.length);
  };
  const row = (bot) => {
    const about = [bot.owner === account.id ? "yours" : ["by ", element("bdi", {}, bot.owner_name)], bot.certified.includes(game) ? ", certified" : ", no certificate", bot.withdrawn ? ", withdrawn" : ""];
    return element("label", {}, element("input", { type: "checkbox", value: bot.id }), " ", element("bdi", {}, bot.name), " ", element("span", { class: "quiet" }, ...about.flat()));
  };
  const tryToShow = () => show().catch((refused) => (form.querySelector("[data-refusal]").textContent = inWords(refused)));

  form.elements.name.addEventListener("input", tryToShow);
  form.elements.name.addEventListener("focus", tryToShow);
  form.elements.name.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault()); // it searches while one types
  onSend(form, async (_, button) => {
    const bots = await load();
    const isAll = button?.dataset.wish === "all";
    const wanted = bots.filter((bot) => (isAll ? !bot.withdrawn : chosen.has(bot.id)));
    if (!wanted.length) throw new Refused(422, { detail: isAll ? "Every verified bot that plays the game is entered already." : "Choose at least one bot." });
    const text = "Those whose owners decide are entered when their owners accept. Those that may not be entered are skipped, and you see why.";
    if (isAll && !(await ask({ title: `Enter ${wanted.length} bots?`, text }, () => true))) return;
    const counted = { entered: 0, asked: 0, skipped: 0 };
    outcomes.replaceChildren();
    try {
      for (const bot of wanted) {
        const { outcome, reason } = await enterOrAsk(id, bot.id);
        counted[outcome] += 1;
        if (outcome !== "skipped") chosen.delete(bot.id);
        outcomes.append(element("li", {}, element("bdi", {}, bot.name), `: ${{ entered: "entered", asked: "its owner is asked", skipped: `not entered. ${reason}` }[outcome]}`));
        done.textContent = `${counted.entered} entered, ${counted.asked} asked, ${counted.skipped} not entered, of ${wanted.length}.`;
      }
    } finally {
      loading = null;
      document.dispatchEvent(new CustomEvent("entries-changed"));
    }
    await show();
    for (const list of document.querySelectorAll("[data-invitations]")) await showSentInvitations(list);
  });
  form.dataset.filled = "";
  form.hidden = false;
}

/** Return the verified bots that play the game and are not entered, by name; mark those that were withdrawn. */
async function listEnterable(id, game) {
  const [bots, entries] = await Promise.all([listAll(`/bots?status=verified&game=${game}`), listAll(`/tournaments/${id}/entries?`)]);
  const withdrawn = new Set(entries.filter((entry) => entry.withdrawn_at && !entry.disqualified_at).map(({ bot }) => bot));
  const others = new Set(entries.map(({ bot }) => bot).filter((bot) => !withdrawn.has(bot)));
  const left = bots.filter(({ id: bot }) => !others.has(bot)).sort((a, b) => a.name.localeCompare(b.name));
  return left.map((bot) => ({ ...bot, withdrawn: withdrawn.has(bot.id) }));
}

/** Enter a bot, or ask its owner. Return the outcome and, of a refusal of this bot, the reason; throw any other. */
async function enterOrAsk(id, bot) {
  const send = (verb) => api("POST", `/tournaments/${id}/${verb}`, { bot }, { key: newKey() });
  try {
    try {
      await send("enter");
    } catch (refused) {
      if (refused.code !== "needs_acceptance") throw refused;
      await send("invitations");
      return { outcome: "asked" };
    }
    return { outcome: "entered" };
  } catch (refused) {
    if (!(refused instanceof Refused) || isPassing(refused) || refused.status === 401) throw refused;
    return { outcome: "skipped", reason: inWords(refused) };
  }
}
