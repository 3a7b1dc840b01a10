// Create practice matches: unrated, against house players, with as few seats as the game allows.
import { element } from "./dom.js";
import { gameName } from "./figures.js";
import { newKey, onSubmit } from "./forms.js";
import { gameOptions } from "./game_options.js";
import { stateLabel } from "./labels.js";
import { Refused, api } from "./session.js";

const POLLED_MS = 2_000;
const OVER = ["finished", "cancelled", "void", "stuck"];


/** Fill the form with the games of the bot. Add an item to `list` for each match that is created. */
export function practise(form, list, bot) {
  form.elements.game.replaceChildren(...bot.games.map((game) => element("option", { value: game }, gameName(game))));
  const chosen = gameOptions(form);
  onSubmit(form, async () => {
    const match = await createMatch(bot, await chosen());
    const line = element("li", {}, element("a", { href: `/matches/${encodeURIComponent(match.id)}` }, `Watch ${gameName(match.game)}`), " ", element("span", { "data-state": "" }, "is about to start"));
    list.prepend(line);
    line.querySelector("a").focus();
    follow(match.id, bot.id, line.querySelector("[data-state]"));
  });
}

async function createMatch(bot, { game, options }) {
  const house = await api("GET", "/bots?status=house&limit=100");
  const rivals = house.items.sort((a, b) => b.name.includes("Sound") - a.name.includes("Sound")); // the usual opponent first
  const needed = game.seats.minimum - 1;
  if (rivals.length < needed) throw new Refused(503, { detail: "The service has no house players yet. Try again in a moment." });
  const seated = [bot.id, ...rivals.slice(0, needed).map((rival) => rival.id)];
  return api("POST", "/matches", { game: game.name, bots: seated, options, rated: false }, { key: newKey() });
}

/** Show the state of the match until it is over. */
async function follow(id, botId, place) {
  for (;;) {
    try {
      const match = await api("GET", `/matches/${encodeURIComponent(id)}`);
      const text = describe(match, botId);
      if (place.textContent !== text) place.textContent = text;
      if (OVER.includes(match.status)) return;
    } catch (error) {
      place.textContent = error.message;
    }
    await new Promise((resolve) => setTimeout(resolve, POLLED_MS));
  }
}

function describe(match, botId) {
  if (match.status === "running") return "is in progress";
  if (match.status !== "finished") return `is ${stateLabel(match.status)}${match.reason ? `: ${match.reason}` : ""}`;
  const mine = match.seats.find((seat) => seat.bot === botId);
  return `is over: rank ${mine.placement} of ${match.seats.length}, returns ${String(mine.returns).replace("-", "\u2212")}`;
}
