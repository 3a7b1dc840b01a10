// The bots of whoever is signed in: how each is, what it waits for, what it did wrong last.
import { byId, element } from "./dom.js";
import { gameName } from "./figures.js";
import { attempts } from "./forms.js";
import { statePill } from "./labels.js";
import { moment } from "./local_time.js";
import { api } from "./session.js";
import { table } from "./tables.js";

const link = (kind, id, text) => element("a", { href: `/${kind}/${encodeURIComponent(id)}` }, element("bdi", {}, text));

/** Fills the lists of bots, of their events, and of their matches that are not over; `told` bots are looked at closely. */
export async function showBots(me, told) {
  const found = (await api("GET", `/bots?owner=${encodeURIComponent(me.id)}&limit=100`)).items;
  const bots = found.filter((bot) => bot.status !== "retired");
  const closely = await Promise.all(bots.slice(0, told).map(lookedAt));
  const known = new Map(closely.map((one) => [one.bot.id, one]));
  byId("bot-list").replaceChildren(...bots.map((bot) => botCard(known.get(bot.id) ?? { bot }, () => showBots(me, told))));
  byId("no-bots").hidden = bots.length > 0;
  await showEvents(closely);
  showWaiting(closely);
}

async function lookedAt(bot) {
  const path = `/bots/${encodeURIComponent(bot.id)}`;
  const [own, waiting, faults] = await Promise.all([api("GET", path), api("GET", `${path}/waiting`), api("GET", `${path}/faults?limit=1`)]);
  return { bot: own, waiting, fault: faults.items[0] ?? null };
}

function botCard({ bot, waiting, fault }, again) {
  const page = `/bots/${encodeURIComponent(bot.id)}`;
  const { note, attempt } = attempts();
  return element("li", { class: "card" },
    element("h3", {}, link("bots", bot.id, bot.name), " ", statePill(bot.status)),
    bot.status_reason ? element("p", {}, bot.status_reason) : null,
    element("dl", { class: "facts" },
      ...fact("Version", bot.version ?? "not known yet"),
      ...fact("Games", bot.games.map(gameName).join(", ") || "not known yet"),
      ...(bot.url ? fact("Address", element("span", { class: "address" }, bot.url)) : []),
      ...(waiting ? fact("Now", now(waiting)) : []),
      ...(waiting ? fact("Last fault", fault ? element("a", { href: `${page}#faults` }, `${fault.code}, ${moment(fault.created_at)}`) : "none") : []),
    ),
    note,
    element("p", { class: "row" },
      element("a", { class: "button", href: `/register?bot=${encodeURIComponent(bot.id)}` }, "Check, practise"),
      ...(["verified", "paused"].includes(bot.status) ? [pauseButton(bot, attempt, again)] : [])),
  );
}

function pauseButton(bot, attempt, again) {
  const verb = bot.status === "paused" ? "resume" : "pause";
  const button = element("button", { type: "button", "aria-label": `${verb === "pause" ? "Pause" : "Resume"} ${bot.name}` }, verb === "pause" ? "Pause" : "Resume");
  button.addEventListener("click", async () => {
    button.disabled = true;
    const paused = await attempt(async () => {
      await api("POST", `/bots/${encodeURIComponent(bot.id)}/${verb}`);
      await again();
    });
    button.disabled = paused;
  });
  return button;
}

function now({ playing, open, reason }) {
  if (playing) return `plays ${playing} of its ${open} open ${open === 1 ? "match" : "matches"}`;
  return reason ? reason.text : open ? `${open} open` : "nothing to play";
}

async function showEvents(closely) {
  const ids = new Set(closely.flatMap(({ waiting }) => [...waiting.matches, ...waiting.events].map((one) => one.tournament)));
  ids.delete(null);
  const events = await Promise.all([...ids].slice(0, 20).map((id) => api("GET", `/tournaments/${encodeURIComponent(id)}`)));
  byId("event-list").replaceChildren(...events.map((event) => element("li", {}, link("tournaments", event.id, event.name), " ", statePill(event.status))));
  byId("no-events").hidden = events.length > 0;
}

function showWaiting(closely) {
  const rows = closely.flatMap(({ bot, waiting }) => waiting.matches.map((one) => [
    link("matches", one.match, one.match),
    element("bdi", {}, bot.name),
    one.position === null ? "–" : String(one.position),
    one.reason ? one.reason.text : "is being played",
  ]));
  const columns = ["Match", "Bot", { name: "Place in the queue", number: true }, { name: "Why it waits", kind: "why" }];
  byId("waiting-list").replaceChildren(...(rows.length ? [table("Matches that are not over", columns, rows, { hiddenCaption: true })] : []));
  byId("no-waiting").hidden = rows.length > 0;
}

export function fact(name, value) {
  return [element("dt", {}, name), element("dd", {}, value)];
}
