// Show the response statistics and faults of a bot to its owner: percentiles by version, a histogram, faults with links.
import { histogram } from "./charts.js";
import { byId, element } from "./dom.js";
import { moment } from "./local_time.js";
import { api } from "./session.js";
import { FIGURES, table } from "./tables.js";


/** Show the response statistics of the last matches. */
export async function showHealth(path) {
  const { matches, items } = await api("GET", `${path}/health`);
  byId("health").hidden = false;
  if (!items.length) {
    byId("health-said").textContent = "There is no data yet. Only matches with open logs are included.";
    return;
  }
  byId("health-said").textContent = `Response times in milliseconds, as charged to the bot's clock, in the last ${matches} matches with open logs.`;
  drawLatency(items.find((item) => item.decisions) ?? items[0]);
  byId("health-table").replaceChildren(versions(items));
  showCauses(items);
}

function drawLatency(item) {
  const bins = (item.histogram ?? []).map(({ from_ms: from, decisions }) => ({ name: from < 1000 ? String(from) : `${from / 1000} s`, number: decisions }));
  if (!bins.length) return;
  const title = `Response times, version ${item.version ?? "unknown"}: ${item.decisions} responses`;
  const figures = table(title, [{ name: "From, ms" }, { name: "Answers", number: true }], item.histogram.map((bin) => [String(bin.from_ms), String(bin.decisions)]));
  byId("health-drawn").replaceChildren(
    element("figure", { class: "chart" }, element("figcaption", {}, title), histogram(bins, title), element("details", {}, element("summary", {}, "Figures"), figures)),
  );
}

function versions(items) {
  const columns = [{ name: "Version" }, { name: "Matches", number: true }, { name: "Answers", number: true }, ...FIGURES, { name: "Faults" }, { name: "Errors", number: true }];
  return table("Response times by version, latest first", columns, items.map((item) => [
    element("bdi", { class: "cut", title: item.version ?? "" }, item.version ?? "unknown"),
    String(item.matches),
    String(item.decisions),
    ...FIGURES.map(({ key }) => String(item.ms[key])),
    Object.entries(item.faults).map(([code, number]) => `${code} ${number}`).join(", ") || "none",
    String(item.errors),
  ]));
}

function showCauses(items) {
  const sums = new Map();
  for (const item of items) for (const [code, number] of Object.entries(item.faults)) sums.set(code, (sums.get(code) ?? 0) + number);
  const causes = [...sums].sort((a, b) => b[1] - a[1]);
  byId("faults-causes").replaceChildren(
    element("p", { class: "quiet" }, causes.length ? "Faults by cause in these matches:" : ""),
    element("ul", { class: "causes", "aria-label": "Faults by cause" }, ...causes.map(([code, number]) => element("li", {}, cause(code, number)))),
  );
}

let chosen = null;
let again = () => {};

/** Return a button that filters the faults by this code. */
function cause(code, number) {
  const button = element("button", { type: "button", "aria-pressed": "false" }, `${code} ${number}`);
  button.addEventListener("click", () => {
    chosen = chosen === code ? null : code;
    for (const other of byId("faults-causes").querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button && chosen !== null));
    again();
  });
  return button;
}

/** Show the list of faults, newest first, and load older ones on request. */
export async function showFaults(path, bot) {
  const more = byId("faults-more");
  let shown = [];
  let next = null;
  const ask = async () => {
    more.disabled = true;
    const query = new URLSearchParams({ limit: "20", ...(chosen && { code: chosen }), ...(next && { cursor: next }) });
    try {
      const page = await api("GET", `${path}/faults?${query}`);
      shown = [...shown, ...page.items];
      next = page.next;
      list(shown, bot);
    } finally {
      more.disabled = false;
      more.hidden = next === null;
    }
  };
  again = () => {
    [shown, next] = [[], null];
    ask().catch(failed);
  };
  more.addEventListener("click", () => ask().catch(failed));
  byId("faults").hidden = false;
  await ask();
}

/** Show the errors that the bot reported of its own code, the latest match first. */
export async function showErrors(path) {
  const { items } = await api("GET", `${path}/errors?limit=20`);
  byId("errors").hidden = !items.length;
  if (!items.length) return;
  const columns = [{ name: "When" }, { name: "Version" }, { name: "Errors", number: true }, { name: "The last one" }, { name: "Match" }];
  byId("errors-table").replaceChildren(table("Errors by match, newest first", columns, items.map((item) => [
    moment(item.created_at),
    element("bdi", { class: "cut", title: item.version ?? "" }, item.version ?? "unknown"),
    String(item.errors),
    element("bdi", {}, item.error.length > 300 ? `${item.error.slice(0, 300)}…` : item.error),
    element("a", { href: `/matches/${item.match}` }, `decision ${item.n}`),
  ])));
}

function failed(error) {
  byId("faults-table").replaceChildren(element("p", { class: "error", role: "alert" }, error.message));
}

function list(faults, bot) {
  if (!faults.length) {
    byId("faults-table").replaceChildren(element("div", { class: "empty" }, element("p", {}, "No faults: every question was answered correctly.")));
    return;
  }
  const columns = [{ name: "Fault" }, { name: "When" }, { name: "Code" }, { name: "What was wrong" }, { name: "Match" }];
  byId("faults-table").replaceChildren(table("Faults, newest first", columns, faults.map((fault) => [
    element("a", { href: `/bots/${bot}/faults/${fault.id}` }, `Fault ${fault.id}`),
    moment(fault.created_at),
    element("code", {}, fault.code),
    element("bdi", {}, fault.detail.length > 160 ? `${fault.detail.slice(0, 160)}…` : fault.detail),
    element("a", { href: `/matches/${fault.match}` }, `decision ${fault.n}`),
  ])));
}
