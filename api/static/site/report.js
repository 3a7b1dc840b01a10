// Show the report of a bot's check: the handshake, then the conformance suite.
import { copied } from "./copy.js";
import { element } from "./dom.js";
import { FIGURES, table } from "./tables.js";

const MARKS = { ok: ["✓", "good", "fine"], warn: ["!", "warn", "warning"], fail: ["✕", "bad", "failed"], wait: ["…", "quiet", "to come"] };
const PARTS = [["resolve", "DNS lookup"], ["connect", "connecting"], ["wait", "waiting for the first byte"], ["read", "reading the body"], ["total", "total"]];

/** Return whether a check of the bot is due or in progress. */
export function isCalled(bot) {
  return bot.handshake.state !== "idle" || ["due", "running"].includes(bot.check?.state);
}

/** Fill `root` with the report of the bot. `advice` maps codes to advice. */
export function showReport(root, bot, advice) {
  const steps = handshakeSteps(bot, advice);
  const check = bot.check;
  const report = check?.report;
  root.replaceChildren(
    element("ol", { class: "findings" }, ...steps, ...(check ? [checkStep(check, report)] : [])),
    ...(report ? checkDetails(report) : []),
  );
}

function handshakeSteps(bot, advice) {
  const { report, state } = bot.handshake;
  if (state !== "idle") return [step("wait", "Handshake in progress", "The bot must prove that it knows the secret, then show its manifest.")];
  if (!report) return [step("wait", "The bot has not been called yet")];
  const found = [called(bot, report.challenge, "Proves that it knows the secret", "POST /notify", advice, challengeLine(bot.url))];
  if (report.challenge?.ok) found.push(called(bot, report.manifest, "Shows its manifest", "GET /", advice, `curl -i ${quoted(bot.url)}`));
  if (report.ok && report.games) found.push(step("ok", `Plays ${report.games.join(", ")}`, bot.version ? `version ${bot.version}` : ""));
  if (report.unknown_games?.length) found.push(step("warn", `Its manifest names unknown games: ${report.unknown_games.join(", ")}`));
  return found;
}

function called(bot, made, title, what, advice, line) {
  if (!made) return step("wait", title, what);
  if (made.ok) return step("ok", title, `${what}, ${made.total_ms} ms`);
  const todo = advice[made.code] ?? "Run `referee check URL` to see how your bot answered.";
  return step("fail", title, `${what}: ${made.code}`,
    element("p", {}, made.detail ?? ""),
    made.reply ? element("pre", { tabindex: 0 }, element("code", {}, made.reply)) : null,
    element("p", {}, element("strong", {}, "What to do: "), plain(todo)),
    copied(line, "the command"),
  );
}

function checkStep(check, report) {
  if (check.state === "running") {
    const bar = element("progress", { max: Math.max(check.questions_total, 1), value: check.questions_sent, "aria-label": "Questions asked" });
    const figures = element("span", { class: "figures" }, `${check.questions_sent} of ${check.questions_total}`);
    return step("wait", "Conformance check in progress", check.current_step ?? "", element("div", { class: "progress" }, bar, figures));
  }
  if (check.state === "due") return step("wait", "Conformance check about to start", "every decision of its games, signatures, broken connections");
  if (!report) return step("wait", "Conformance check after the handshake", "every decision of its games, signatures, broken connections");
  const verdicts = { pass: ["ok", "Passed the conformance check"], fail: ["fail", "Failed the conformance check"], unreachable: ["fail", "Could not be reached"] };
  const [weight, title] = verdicts[report.verdict] ?? ["wait", report.verdict ?? "Checked"];
  return step(weight, title, `${report.questions ?? 0} questions, ${report.calls ?? 0} calls`);
}

function checkDetails(report) {
  const findings = report.findings ?? [];
  const bad = findings.filter((finding) => finding.severity !== "ok");
  const fine = findings.filter((finding) => finding.severity === "ok");
  return [
    ...(bad.length ? [element("h3", {}, "What to fix"), element("ol", { class: "findings" }, ...bad.map(finding))] : []),
    ...(fine.length ? [folded(`${fine.length} rules kept`, element("ul", {}, ...fine.map(({ expected }) => element("li", {}, expected))))] : []),
    ...(report.skipped?.length ? [folded(`${report.skipped.length} rules not checked`, element("ul", {}, ...report.skipped.map(({ id, reason }) => element("li", {}, `${id}: ${reason}`))))] : []),
    ...(report.latency && Object.keys(report.latency).length ? [latency(report.latency)] : []),
  ];
}

function finding({ id, severity, expected, where, fault, times, came, advice, curl, cause, same_cause: others = [] }) {
  const repeated = times > 1 ? `, ${times} times` : "";
  const rules = `Expected: ${expected}.${others.length ? ` Also breaks ${others.join(", ")}.` : ""}`;
  return step(severity, cause || expected, `${id}${where ? `, ${where}` : ""}${fault ? `, ${fault}` : ""}${repeated}`,
    came ? element("p", {}, element("strong", {}, "Received: "), came) : null,
    advice ? element("p", {}, element("strong", {}, "What to do: "), plain(advice)) : null,
    cause ? element("p", { class: "quiet" }, rules) : null,
    curl ? copied(curl, "the request") : null,
  );
}

function latency(parts) {
  const rows = PARTS.filter(([part]) => parts[part]).map(([part, words]) => [words, ...FIGURES.map(({ key }) => String(parts[part][key]))]);
  return table("Times of calls, in milliseconds", ["Part of a call", ...FIGURES], rows);
}

function step(weight, title, quiet = "", ...more) {
  const [sign, colour, word] = MARKS[weight] ?? MARKS.wait;
  return element("li", { class: `finding ${colour}` },
    element("span", { class: "mark", role: "img", "aria-label": word }, sign),
    element("div", {}, element("strong", {}, title), quiet ? element("span", { class: "quiet" }, ` ${quiet}`) : null, ...more));
}

function folded(title, content) {
  return element("details", {}, element("summary", {}, title), content);
}

/** Return advice, which is Markdown, as plain text. */
function plain(text) {
  return text.replaceAll("`", "");
}

function challengeLine(url) {
  return `curl -i ${quoted(`${url.replace(/\/$/, "")}/notify`)} -H 'Content-Type: application/json' -d '{"type":"challenge","nonce":"0123456789abcdef"}'`;
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
