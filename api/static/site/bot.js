// What the owner of a bot sees besides: its state and address, the check as it goes on, and the controls.
import { copied } from "./copy.js";
import { byId, element, fill } from "./dom.js";
import { newKey, onSubmit, sureButton, wrong } from "./forms.js";
import { showFaults, showHealth } from "./health.js";
import { statePill } from "./labels.js";
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
let unreached = false; // when it was asked for last

async function load() {
  const answer = await answered("GET", path);
  bot = answer.said;
  etag = answer.etag;
  if (bot.url !== undefined) show();
}

function show() {
  own.hidden = false;
  document.querySelector("[data-name]").textContent = bot.name;
  document.querySelector("[data-state]").replaceChildren(statePill(bot.status));
  fill(own, { url: bot.url, verified: bot.verified_url ?? "nowhere yet", secret: secretWords() });
  const gone = bot.status === "retired" || bot.status === "house";
  if (gone) for (const control of own.querySelectorAll("button, input")) control.disabled = true;
  byId("pause").hidden = bot.status === "paused";
  byId("resume").hidden = bot.status !== "paused";
  showCheck();
}

function secretWords() {
  const until = bot.previous_secret_until;
  return until && new Date(until) > new Date() ? `two: the one before signs as well until ${moment(until)}` : "one";
}

/** The report of the last check; while the bot is called it is asked for again and again. */
function showCheck() {
  if (bot.check.report || isCalled(bot)) showReport(byId("own-check"), bot, known.advice);
  clearTimeout(waking);
  if (isCalled(bot)) {
    lookAgain();
  } else {
    polledMs = POLLED_MS;
    showWhy();
  }
}

function lookAgain() {
  const look = async () => {
    try {
      await load();
      if (unreached) done("");
      unreached = false;
    } catch (error) {
      tell(error);
      unreached = isPassing(error);
      if (unreached) lookAgain();
    }
  };
  clearTimeout(waking);
  waking = setTimeout(look, polledMs);
  polledMs = Math.min(polledMs * 1.2, RARELY_MS); // nobody may be at work
}

/** Why it does not play, when something keeps it. */
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

/** A button that asks the API for one thing, once however often it is pressed. */
function wish(button, what, words) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    done("");
    try {
      await api("POST", `${path}/${what}`, undefined, { key: newKey() });
      polledMs = POLLED_MS;
      done(words);
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
    shown.replaceChildren(element("p", {}, "The new secret. It is shown this once:"), copied(made.secret, "the secret"));
    shown.focus();
    done("It has a new secret.");
    await load();
  } catch (error) {
    tell(error);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

function editing() {
  const form = byId("edit");
  let before = null; // as the form was filled: what another tab changed since is not changed back
  const show = () => {
    before = { name: bot.name, url: bot.url };
    [form.elements.name.value, form.elements.url.value] = [bot.name, bot.url];
  };
  show();
  onSubmit(form, async ({ name, url }) => {
    const changes = Object.fromEntries(Object.entries({ name, url }).filter(([field, value]) => value !== before[field]));
    if (!Object.keys(changes).length) throw wrong("name", "Nothing was changed.");
    await answered("PATCH", path, changes, { ifMatch: etag }).catch(async (error) => {
      if (error.status !== 412) throw error;
      await load(); // so that another try is made to what is there now
      throw new Refused(412, { detail: "It was changed meanwhile, and nothing is saved. Above stands how it is now; save again to change it once more." });
    });
    done(changes.url ? "Saved. The new address is called now." : "Saved.");
    await load();
    show();
  });
}

function retiring() {
  const form = byId("retire");
  onSubmit(form, async ({ typed }) => {
    if (typed !== bot.name) throw wrong("typed", `Type ${bot.name} to retire it.`);
    await api("POST", `${path}/retire`, undefined, { key: newKey() });
    done("The bot is retired.");
    setTimeout(() => load().catch(tell)); // when the form has its buttons back
  });
}

async function begin() {
  await load();
  if (bot.url === undefined) return;
  wish(byId("check"), "check", "The referee calls the bot.");
  wish(byId("pause"), "pause", "Paused: the bot gets no new matches. Its friendlies are cancelled, its other matches are still played.");
  wish(byId("resume"), "resume", "The pause is over.");
  byId("rotate").append(sureButton("Make a new secret", "Really make a new one?", rotate));
  editing();
  retiring();
  await Promise.all([showHealth(path), showFaults(path, known.bot)]).catch(tell);
}

if (token()) {
  begin().catch((error) => {
    if (!(error instanceof Refused)) throw error;
    tell(error); // seen by the owner alone: to others the page is as it is without a token
  });
}
