// Let a signed-in account challenge a bot to a friendly, or say why it cannot, when the reader opens this part of the page.
import { byId, element } from "./dom.js";
import { gameName } from "./figures.js";
import { newKey, onSubmit } from "./forms.js";
import { gameOptions } from "./game_options.js";
import { Refused, api, token } from "./session.js";

const known = JSON.parse(byId("known").textContent);
const form = byId("challenge-form");

async function begin() {
  const [me, rules] = await Promise.all([api("GET", "/accounts/me"), api("GET", `/bots/${known.bot}/friendlies`)]);
  const [bot, own] = await Promise.all([api("GET", `/bots/${known.bot}`), api("GET", `/bots?owner=${me.id}&status=verified&limit=100`)]);
  const rivals = own.items.filter(({ games }) => games.some((game) => known.games.includes(game)));
  const obstacle = bot.owner === me.id ? "This is your own bot: only other accounts can challenge it."
    : bot.status !== "verified" ? `The bot is ${bot.status}; only verified bots play.`
    : rules.obstacle && !rules.may_request ? rules.obstacle
      : !rivals.length ? "You have no verified bot that plays one of its games." : "";
  byId("challenge-why").textContent = obstacle || (rules.may_request ? "Its owner decides about each friendly: this sends a request." : "");
  byId("challenge-why").hidden = !byId("challenge-why").textContent;
  if (obstacle) return;
  form.hidden = false;
  if (rules.may_request) form.querySelector("[data-challenge]").textContent = "Send a request";
  form.elements.bot.replaceChildren(...rivals.map(({ id, name }) => element("option", { value: id }, name)));
  const showGames = () => {
    const { games } = rivals.find(({ id }) => id === form.elements.bot.value);
    form.elements.game.replaceChildren(...games.filter((game) => known.games.includes(game)).map((game) => element("option", { value: game }, gameName(game))));
    form.elements.game.dispatchEvent(new Event("change"));
  };
  form.elements.bot.addEventListener("change", showGames);
  showGames();
  const chosen = gameOptions(form);
  onSubmit(form, async ({ bot }) => challenge(bot, await chosen(), rules.may_request));
}

async function challenge(bot, { game, options }, asks) {
  const house = await api("GET", "/bots?status=house&limit=100");
  const fillers = house.items.slice(0, Math.max(0, game.seats.minimum - 2)).map(({ id }) => id);
  const made = await api("POST", asks ? "/friendly-requests" : "/matches", { game: game.name, bots: [bot, known.bot, ...fillers], options }, { key: newKey() });
  const said = asks ? ["The request is sent. Its answer appears on ", element("a", { href: "/account#friendlies" }, "your account page"), "."]
    : ["The friendly is arranged: ", element("a", { href: `/matches/${encodeURIComponent(made.id)}` }, "watch it"), "."];
  byId("challenge-said").replaceChildren(...said);
}

byId("challenge")?.addEventListener("toggle", () => {
  if (token() === null) return;
  begin().catch((error) => {
    byId("challenge-why").textContent = error instanceof Refused ? error.message : "A script of this page failed. Reload the page.";
  });
}, { once: true });
