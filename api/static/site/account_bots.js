// Show the bots of the account: state, waiting matches, last fault, tournaments.
import { byId, element } from "./dom.js";
import { emblem } from "./emblem.js";
import { gameName } from "./figures.js";
import { attempts } from "./forms.js";
import { botPill, ratedLabel, statePill } from "./labels.js";
import { moment } from "./local_time.js";
import { ask } from "./organise-shared.js";
import { api } from "./session.js";
import { table } from "./tables.js";

const link = (kind, id, text) => element("a", { href: `/${kind}/${encodeURIComponent(id)}` }, element("bdi", {}, text));

/** Fill the lists of bots, tournaments and open matches. Load details of the first `most` bots only. */
export async function showBots(me, most) {
  const found = (await api("GET", `/bots?owner=${encodeURIComponent(me.id)}&limit=100`)).items;
  const bots = found.filter((bot) => bot.status !== "retired");
  const detailed = await Promise.all(bots.slice(0, most).map(loadDetails));
  const known = new Map(detailed.map((details) => [details.bot.id, details]));
  byId("bot-list").replaceChildren(...bots.map((bot) => botCard(known.get(bot.id) ?? { bot }, () => showBots(me, most))));
  byId("no-bots").hidden = bots.length > 0;
  byId("public-page").hidden = found.length === 0;
  byId("public-page").href = `/owners/${encodeURIComponent(me.id)}`;
  await showTournaments(detailed, () => showBots(me, most));
  showWaiting(detailed);
}

async function loadDetails(bot) {
  const path = `/bots/${encodeURIComponent(bot.id)}`;
  const [own, waiting, faults] = await Promise.all([api("GET", path), api("GET", `${path}/waiting`), api("GET", `${path}/faults?limit=1`)]);
  return { bot: own, waiting, fault: faults.items[0] ?? null };
}

function botCard({ bot, waiting, fault }, again) {
  const page = `/bots/${encodeURIComponent(bot.id)}`;
  const { note, attempt } = attempts();
  return element("li", { class: "card" },
    element("h3", {}, emblem(bot.id), link("bots", bot.id, bot.name), " ", botPill(bot)),
    bot.status_reason ? element("p", {}, bot.status_reason) : null,
    element("dl", { class: "facts" },
      ...fact("Version", bot.version ?? "not known yet"),
      ...fact("Games", bot.games.map(gameName).join(", ") || "not known yet"),
      ...(bot.url ? fact("URL", element("span", { class: "address" }, bot.url)) : []),
      ...(waiting ? fact("Now", now(waiting)) : []),
      ...(waiting ? fact("Last fault", fault ? element("a", { href: `${page}#faults` }, `${fault.code}, ${moment(fault.created_at)}`) : "none") : []),
    ),
    note,
    element("p", { class: "row" },
      element("a", { class: "button", href: `/register?bot=${encodeURIComponent(bot.id)}` }, "Check and practise"),
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
  if (playing) return `playing ${playing} of its ${open} open ${open === 1 ? "match" : "matches"}`;
  return reason ? reason.text : open ? `${open} open` : "no open matches";
}

async function showTournaments(detailed, again) {
  const entered = new Map(); // the bots of each tournament
  for (const { bot, waiting } of detailed) {
    for (const { tournament } of [...waiting.matches, ...waiting.tournaments]) {
      if (tournament !== null) entered.set(tournament, (entered.get(tournament) ?? new Set()).add(bot));
    }
  }
  const found = await Promise.all([...entered.keys()].slice(0, 20).map((id) => api("GET", `/tournaments/${encodeURIComponent(id)}`)));
  byId("tournament-list").replaceChildren(...found.map(({ id, name, status }) => element("li", { class: "row" },
    link("tournaments", id, name), statePill(status), ...[...entered.get(id)].map((bot) => createWithdrawButton(id, name, bot, again)))));
  byId("no-tournaments").hidden = found.length > 0;
}

function createWithdrawButton(id, tournament, bot, again) {
  const button = element("button", { type: "button", "aria-label": `Withdraw ${bot.name} from ${tournament}…` }, "Withdraw ", element("bdi", {}, bot.name), "…");
  button.addEventListener("click", async () => {
    const text = "Matches in progress are played to the end. Other open matches are cancelled and count for nobody.";
    const done = await ask({ title: `Withdraw ${bot.name} from ${tournament}?`, text }, ({ key }) => api("POST", `/tournaments/${encodeURIComponent(id)}/withdraw`, { bot: bot.id }, { key }));
    if (done) await again();
  });
  return button;
}

function showWaiting(detailed) {
  const rows = detailed.flatMap(({ bot, waiting }) => waiting.matches.map(({ match, position, reason, unrated_reason }) => [
    element("span", {}, link("matches", match, match), unrated_reason ? element("span", { class: "quiet" }, ` ${ratedLabel({ unrated_reason })}`) : null),
    element("bdi", {}, bot.name),
    position === null ? "–" : String(position),
    reason ? reason.text : "in progress",
  ]));
  const columns = ["Match", "Bot", { name: "Position in the queue", number: true }, { name: "Why it waits", kind: "why" }];
  byId("waiting-list").replaceChildren(...(rows.length ? [table("Open matches of your bots", columns, rows, { hiddenCaption: true })] : []));
  byId("no-waiting").hidden = rows.length > 0;
}

export function fact(name, value) {
  return [element("dt", {}, name), element("dd", {}, value)];
}
