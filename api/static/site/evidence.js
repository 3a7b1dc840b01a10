// Show a fault report to the owner of the bot. Read it from the API with the owner's token, and show it as text only.
import { stackedBar, swatch } from "./charts.js";
import { copied } from "./copy.js";
import { byId, element, fill } from "./dom.js";
import { moment } from "./local_time.js";
import { api, token } from "./session.js";

const PARTS = [
  ["dns_ms", "DNS lookup", "one"],
  ["connect_ms", "connecting", "two"],
  ["wait_ms", "waiting for the first byte", "three"],
  ["read_ms", "reading the body", "four"],
];
const known = JSON.parse(byId("known").textContent);

function show(fault) {
  const root = byId("evidence");
  fill(root, { code: fault.code, detail: fault.detail, version: fault.version ?? "unknown", when: moment(fault.created_at) });
  byId("happened").replaceChildren(...plain(known.happened[fault.code] ?? "–"));
  byId("remedy").replaceChildren(...plain(fault.advice));
  byId("where").replaceChildren(element("a", { href: `/matches/${fault.match}` }, `Decision ${fault.n}, seat ${fault.seat + 1}`), " of the match ", element("code", {}, fault.match));
  byId("played").replaceChildren(fault.played ? element("code", {}, JSON.stringify(fault.played)) : "not decided yet: other players have not answered");
  showTiming(fault.timing);
  byId("again").replaceChildren(fault.curl ? copied(fault.curl, "the command", { block: true }) : element("p", {}, "There is no command, since the question was not stored whole or was never sent."));
  byId("request").replaceChildren(...asked(fault.request));
  byId("reply").replaceChildren(reply(fault));
  byId("request-cut").hidden = !fault.request_cut;
  byId("reply-cut").hidden = !fault.reply_cut;
  byId("said").replaceChildren();
  root.hidden = false;
}

function reply(fault) {
  if (fault.reply === "") return nothing("The body is empty.");
  if (fault.reply !== null) return copied(fault.reply, "the reply", { block: true });
  if (fault.reply_base64 === null) return nothing("There was no reply.");
  return element("div", {}, element("p", {}, "The reply is not UTF-8 text. In base64:"), copied(fault.reply_base64, "the reply", { block: true }));
}

function nothing(text) {
  return element("p", { class: "quiet" }, text);
}

/** Return elements with the question, exactly as it was sent and formatted for reading. */
function asked(text) {
  if (text === null) return [nothing("The question was not stored.")];
  const exact = copied(text, "the question", { block: true });
  const lines = inLines(text);
  return lines === null ? [exact] : [exact, element("details", {}, element("summary", {}, "Line by line"), element("pre", { tabindex: 0 }, element("code", {}, lines)))];
}

function inLines(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null; // the text was cut off
  }
}

function showTiming(timing) {
  const parts = PARTS.map(([name, words, colour]) => ({ name: words, amount: timing?.[name] ?? 0, colour })).filter((part) => part.amount > 0);
  if (!parts.length) {
    byId("timing-drawn").replaceChildren(nothing("No time was measured: the bot was not called."));
    return;
  }
  const total = parts.reduce((sum, part) => sum + part.amount, 0);
  const words = (part) => `${part.name} ${part.amount} ms`;
  byId("timing-drawn").replaceChildren(
    stackedBar(parts.map((part) => ({ ...part, name: words(part) })), `${Math.round(total)} ms: ${parts.map(words).join(", ")}`),
    element("ul", { class: "parts" }, ...parts.map((part) => element("li", {}, swatch(part.colour), words(part))), element("li", { class: "quiet" }, `total ${Math.round(total * 10) / 10} ms`)),
  );
}

/** Return nodes for advice, which is text with code between backticks. */
function plain(text) {
  return text.split("`").map((piece, at) => (at % 2 ? element("code", {}, piece) : piece));
}

function refuse(error) {
  const words = error.status === 404 ? "None of your bots has a fault with this number." : error.message;
  byId("said").replaceChildren(element("div", { class: "notice warn" }, element("p", {}, words)), ...(error.status === 401 || error.status === 404 ? [signIn()] : []));
}

function signIn() {
  return element("p", {}, "Only the owner of the bot and organisers can read this fault report. ", element("a", { href: "/account" }, "Sign in with your token"), " in this tab, then return to this page.");
}

if (!token()) byId("said").replaceChildren(signIn());
else api("GET", `/faults/${known.fault}`).then(show).catch(refuse);
