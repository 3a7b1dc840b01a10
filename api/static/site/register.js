// Run the page that registers a bot: account, registration, secret, progress of the check, practice.
import { renderRecoveryCode } from "./account_recovery.js";
import { copied } from "./copy.js";
import { byId, element } from "./dom.js";
import { newKey, onSubmit, showErrors, wrong } from "./forms.js";
import { stateLabel } from "./labels.js";
import { practise } from "./practice.js";
import { isCalled, showReport } from "./report.js";
import { Refused, api, isPassing, leave, signIn, signOut, token } from "./session.js";

const POLLED_MS = 1_000;
const RARELY_MS = 10_000;
const { advice, selfService } = JSON.parse(byId("known").textContent);
const form = byId("register");

let bot = null;
let wish = { key: newKey(), text: "" };

// -- who --

async function showWho() {
  const signedIn = token() !== null;
  byId("who").hidden = signedIn;
  byId("known-as").hidden = !signedIn;
  if (!signedIn) return;
  try {
    const me = await api("GET", "/accounts/me");
    byId("my-name").textContent = me.name;
  } catch (error) {
    if (error.status === 401) {
      signOut();
      await showWho();
    } else byId("my-name").textContent = "an account (its name could not be loaded)";
  }
}

byId("other").addEventListener("click", async () => {
  const problem = await leave();
  showWho();
  byId("account").focus();
  if (problem) showErrors(form, new Refused(0, { detail: problem }));
});

for (const choice of form.querySelectorAll("[name=has]")) choice.addEventListener("change", showChoice);

function showChoice() {
  const has = form.elements.has?.value ?? "token";
  byId("new-account").hidden = has !== "none";
  byId("with-token").hidden = has !== "token";
}

/** Sign in with the form's token, or open an account, at most once. */
async function arrive(values) {
  if (token()) return;
  if (selfService && values.has === "none") {
    const made = await api("POST", "/accounts", { name: values.account }).catch((error) => {
      throw error.code === "name_taken" ? wrong("account", error.message) : onField(error, "name", "account");
    });
    signIn(made.token.token);
    showKey(made.token.token, made.recovery_code);
  } else {
    signIn(values.token.trim());
    try {
      await api("GET", "/accounts/me");
    } catch (error) {
      signOut();
      throw error.status === 401 ? wrong("token", error.message) : error;
    }
  }
  await showWho();
}

function showKey(text, code) {
  byId("your-token").replaceChildren(
    element("h3", {}, "Your token"),
    element("p", {}, "It gives access to your account and is shown only once. Keep it like a password. This tab remembers it until you close it."),
    copied(text, "the token"),
  );
  byId("your-code").replaceChildren(...renderRecoveryCode(code));
  byId("kept").hidden = false;
}

// -- the bot --

onSubmit(form, async (values) => {
  await arrive(values);
  const wanted = { name: values.name, url: values.url };
  const text = JSON.stringify(wanted);
  if (text !== wish.text) wish = { key: newKey(), text };
  try {
    bot = await api("POST", "/bots", wanted, { key: wish.key });
  } catch (error) {
    if (error.fields?.url) byId("no-address").open = true;
    byId("only-account").hidden = byId("your-token").childElementCount === 0;
    throw error.code === "name_taken" ? wrong("name", error.message) : error;
  }
  history.replaceState(null, "", `?bot=${encodeURIComponent(bot.id)}`); // after a reload, the page continues with this bot
  showSecret(bot.secret);
  form.hidden = true;
  byId("kept").querySelector("h2").focus();
  await showBot();
});

function showSecret(secret) {
  byId("your-secret").replaceChildren(
    element("h3", {}, `The secret of ${bot.name}`),
    element("p", {}, "It signs every call of the referee, so that your bot can recognise them. It is shown only once; you can create a new one at any time."),
    copied(secret, "the secret"),
    element("p", {}, "Give it to the bot. Starter bots read it from secret.txt in their directory at each call. Restart any other bot with the secret:"),
    copied(`export REFEREE_BOT_SECRET='${secret}'`, "the command"),
  );
  byId("kept").hidden = false;
}

/** Show the bot; poll while its check is in progress. */
async function showBot() {
  byId("checked").hidden = false;
  for (const place of document.querySelectorAll("[data-bot-name]")) place.textContent = bot.name;
  byId("bot-page").href = `/bots/${encodeURIComponent(bot.id)}`;
  for (let wait = POLLED_MS; ; wait = Math.min(wait * 1.2, RARELY_MS)) {
    try {
      bot = { ...bot, ...(await api("GET", `/bots/${encodeURIComponent(bot.id)}`)) };
    } catch (error) {
      say(error.message);
      if (!isPassing(error)) return;
      await pause(wait);
      continue;
    }
    showReport(byId("report"), bot, advice);
    const called = isCalled(bot);
    say(called ? "The check is in progress …" : verdict(bot));
    byId("check").disabled = called;
    if (bot.status === "verified" && byId("practice").hidden) offerPractice();
    if (!called) return;
    await pause(wait);
  }
}

function verdict({ status, name, status_reason: reason }) {
  if (status === "verified") return `${name} is verified and may play.`;
  return `${name} is ${stateLabel(status)}${reason ? `: ${reason}` : ""}. Start it with its secret, then check it.`;
}

function say(text) {
  if (byId("said").textContent !== text) byId("said").textContent = text;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

byId("check").addEventListener("click", async () => {
  byId("check").disabled = true;
  try {
    bot = { ...bot, ...(await api("POST", `/bots/${encodeURIComponent(bot.id)}/check`)) };
    await showBot();
  } catch (error) {
    say(error.message);
    byId("check").disabled = false;
    if (!(error instanceof Refused)) throw error;
  }
});

function offerPractice() {
  byId("practice").hidden = false;
  practise(byId("practice-form"), byId("practice-matches"), bot);
}

function onField(error, from, to) {
  if (error.fields?.[from]) error.fields = { [to]: error.fields[from] };
  return error;
}

// -- continue with a registered bot: /register?bot=… --

async function resume(id) {
  try {
    bot = await api("GET", `/bots/${encodeURIComponent(id)}`);
    if (!bot.handshake) return; // the bot belongs to another account
    form.hidden = true;
    await showBot();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
}

showChoice();
byId("flow").hidden = false;
await showWho();
const asked = new URLSearchParams(location.search).get("bot");
if (asked && token()) await resume(asked);
else if (asked) form.before(element("p", { class: "notice" }, "To continue with a bot you have registered, ", element("a", { href: "/account" }, "sign in with your token"), "."));
