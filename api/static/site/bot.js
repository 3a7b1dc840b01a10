// Run the owner's part of a bot's page: state, URL, progress of the check, controls.
import { copied } from "./copy.js";
import { byId, element, fill } from "./dom.js";
import { newKey, onSubmit, sureButton, wrong } from "./forms.js";
import { allowing } from "./friendly_rules.js";
import { showErrors, showFaults, showHealth } from "./health.js";
import { botPill } from "./labels.js";
import { moment } from "./local_time.js";
import { isCalled, showReport } from "./report.js";
import { Refused, answered, api, isPassing, token } from "./session.js";

const POLLED_MS = 1_000;
const RARELY_MS = 10_000;
const known = JSON.parse(byId("known").textContent);
const path = `/bots/${known.bot}`;
const own = byId("own");
const said = byId("own-said");

let bot = null;
let etag = null;
let waking = 0;
let polledMs = POLLED_MS;
let unreached = false; // the last request failed

async function load() {
  const answer = await answered("GET", path);
  bot = answer.said;
  etag = answer.etag;
  if (bot.url !== undefined) show();
}

function show() {
  own.hidden = byId("manage").hidden = false;
  document.querySelector("[data-name]").textContent = bot.name;
  const summary = document.querySelector("[data-summary]");
  summary.firstElementChild.textContent = bot.summary ?? "";
  summary.hidden = !bot.summary;
  document.querySelector("[data-state]").replaceChildren(botPill(bot));
  fill(own, { url: bot.url, verified: bot.verified_url ?? "none yet", secret: secretText() });
  const gone = bot.status === "retired" || bot.status === "house";
  if (gone) for (const control of own.querySelectorAll("button, input")) control.disabled = control.form?.id !== "delete" || bot.status === "house";
  byId("pause").hidden = bot.status === "paused";
  byId("resume").hidden = bot.status !== "paused";
  showCheck();
}

function secretText() {
  const until = bot.previous_secret_until;
  return until && new Date(until) > new Date() ? `two: the previous one is valid until ${moment(until)}` : "one";
}

/** Show the report of the last check; poll while the check is in progress. */
function showCheck() {
  if (bot.handshake.report || isCalled(bot)) showReport(byId("own-check"), bot, known.advice);
  clearTimeout(waking);
  if (isCalled(bot)) {
    pollAgain();
  } else {
    polledMs = POLLED_MS;
    showWhy();
  }
}

function pollAgain() {
  const poll = async () => {
    try {
      await load();
      if (unreached) done("");
      unreached = false;
    } catch (error) {
      tell(error);
      unreached = isPassing(error);
      if (unreached) pollAgain();
    }
  };
  clearTimeout(waking);
  waking = setTimeout(poll, polledMs);
  polledMs = Math.min(polledMs * 1.2, RARELY_MS); // the check may wait long for a free runner
}

/** Show why the bot does not play, if there is a reason. */
async function showWhy() {
  const why = byId("own-why");
  const reasons = [bot.status_reason, (await api("GET", `${path}/waiting`).catch(() => null))?.reason?.text];
  why.textContent = [...new Set(reasons.filter(Boolean))].join("; ");
  why.hidden = !why.textContent;
}

function tell(error) {
  said.className = "said error";
  said.textContent = error.message;
}

function done(text) {
  said.className = "said";
  said.textContent = text;
}

/** Make `button` call an action of the API, one call at a time. */
function onClick(button, action, confirmation) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    done("");
    try {
      await api("POST", `${path}/${action}`, undefined, { key: newKey() });
      polledMs = POLLED_MS;
      done(confirmation);
      await load();
    } catch (error) {
      tell(error);
    } finally {
      button.disabled = bot.status === "retired";
    }
  });
}

async function rotate() {
  const buttons = byId("rotate").querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  try {
    const made = await api("POST", `${path}/rotate-secret`, undefined, { key: newKey() });
    const shown = byId("secret");
    shown.replaceChildren(element("p", {}, "The new secret. It is shown only once:"), copied(made.secret, "the secret"));
    shown.focus();
    done("The bot has a new secret.");
    await load();
  } catch (error) {
    tell(error);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

/** Let the form with this id edit these fields of the bot. An empty field that is not required becomes null. */
function editing(id, fields, confirmation) {
  const form = byId(id);
  let before = null; // the values that the form showed, so that later changes from elsewhere are not overwritten
  const show = () => {
    before = Object.fromEntries(fields.map((field) => [field, bot[field] ?? ""]));
    for (const field of fields) form.elements[field].value = before[field];
  };
  show();
  onSubmit(form, async (values) => {
    const changed = fields.filter((field) => values[field] !== before[field]);
    if (!changed.length) throw wrong(fields[0], "Nothing was changed.");
    const changes = Object.fromEntries(changed.map((field) => [field, values[field] || form.elements[field].required ? values[field] : null]));
    await answered("PATCH", path, changes, { ifMatch: etag }).catch(async (error) => {
      if (error.status !== 412) throw error;
      await load(); // so that saving again edits the present values
      throw new Refused(412, { detail: "The bot was changed elsewhere, and nothing was saved. The page now shows its present state. Save again to apply your changes." });
    });
    done(confirmation(changes));
    await load();
    show();
  });
}

/** Let the owner switch the play on official ladders, and choose games and a daily maximum. */
async function playing() {
  const form = byId("play");
  const boxes = [...form.querySelectorAll("input[name=games]")];
  const showPlay = (play) => {
    fill(own, { play: play.play });
    form.elements.on.checked = play.play === "on";
    for (const box of boxes) box.checked = play.games === null || play.games.includes(box.value);
    form.elements.daily_maximum.value = play.daily_maximum ?? "";
  };
  showPlay(await api("GET", `${path}/ladders`));
  onSubmit(form, async ({ on, daily_maximum: maximum }) => {
    const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
    if (on && !chosen.length) throw wrong("on", "Choose a game, or switch the play off.");
    const games = chosen.length && chosen.length < boxes.length ? chosen : null;
    const changes = { play: on ? "on" : "off", games, daily_maximum: maximum === "" ? null : Number(maximum) };
    showPlay(await api("PATCH", `${path}/ladders`, changes));
    done("Saved.");
    await showWhy();
  });
}

function retiring() {
  const form = byId("retire");
  onSubmit(form, async ({ typed }) => {
    if (typed !== bot.name) throw wrong("typed", `Type ${bot.name} to retire it.`);
    await api("POST", `${path}/retire`, undefined, { key: newKey() });
    done("The bot is retired.");
    setTimeout(() => load().catch(tell)); // after the form has enabled its buttons again
  });
}

function deleting() {
  const form = byId("delete");
  onSubmit(form, async ({ name }) => {
    if (name !== bot.name) throw wrong("name", `Type ${bot.name} to delete it.`);
    await api("POST", `${path}/delete`, { name }, { key: newKey() });
    location.reload(); // the page as everybody sees it from now on
  });
}

async function begin() {
  await load();
  if (bot.url === undefined) return;
  onClick(byId("check"), "check", "The check has started.");
  onClick(byId("pause"), "pause", "The bot is paused and gets no new matches. Its friendlies are cancelled; its other matches are still played.");
  onClick(byId("resume"), "resume", "The bot is resumed.");
  byId("rotate").append(sureButton("Create a new secret", "Really create a new one?", rotate));
  editing("edit", ["name", "url"], (changes) => (changes.url ? "Saved. The referee is calling the new URL." : "Saved."));
  editing("describe", ["summary", "language", "link"], () => "Saved. Reload the page to see it as others do.");
  retiring();
  deleting();
  const shown = [showHealth(path), showErrors(path), showFaults(path, known.bot)];
  await Promise.all([playing(), allowing(path, done), ...shown]).catch(tell);
}

if (token()) {
  begin().catch((error) => {
    if (!(error instanceof Refused)) throw error;
    tell(error); // shown in the owner's section only
  });
}
