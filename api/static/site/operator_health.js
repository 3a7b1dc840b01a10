// Show operators the state of the service, as /readyz reports it, in words.
import { element } from "./dom.js";
import { moment } from "./local_time.js";

const STATES = {
  database: {
    ok: "can be read and written",
    unwritable: "can be read, but nothing can be stored: make room on its disk, or see why it is read-only",
    replaced: "is another one than at the start, or its file is gone: restart all processes",
    damaged: "is damaged: stop the service and restore a backup",
    unavailable: "does not answer",
  },
  redis: {
    ok: "works",
    unwritable: "answers, but stores nothing: raise its memory limit, or use the primary",
    unavailable: "does not answer: results are safe, new matches may wait",
    none: "is not configured: set REDIS_URL",
  },
  queue: {
    ok: "moves",
    stalled: "does not move",
    unwatched: "is not watched: no scheduler runs",
    unknown: "is not known yet",
  },
  runners: { ok: "have what they need", short: "lack something" },
  egress: {
    public: "have public addresses",
    private: "may have addresses on the private network",
    dev: "may have private addresses for development (REFEREE_EGRESS_ALLOW)",
  },
  files: { ok: "has enough", short: "uses nine tenths of its file descriptors: raise the limit" },
  audit: { ok: "found no differences", differs: "found differences: run `referee admin audit`", none: "has not run yet" },
};
const NAMES = {
  database: "Database",
  redis: "Redis",
  queue: "Queue",
  runners: "Workers",
  files: "This API process",
  egress: "Bots",
  audit: "Last audit",
};

/** Fill the description list `shown` with one line for each part of the service. */
export async function showHealth(shown) {
  const response = await fetch("/readyz", { cache: "no-store" });
  const state = await response.json();
  const parts = Object.keys(NAMES).flatMap((part) => [
    element("dt", {}, NAMES[part]),
    element("dd", { class: isFine(part, state[part]) ? null : "error", "data-part": part }, sentence(part, state)),
  ]);
  shown.replaceChildren(...parts, element("dt", {}, "Version"), element("dd", {}, state.version));
}

/** Return whether nothing has to be done or remembered. Shortly after its start, a service knows neither its queue nor an audit. */
function isFine(part, state) {
  return state === "ok" || state === "public" || state === "unknown" || (part === "audit" && state === "none");
}

function sentence(part, state) {
  const words = STATES[part][state[part]] ?? state[part];
  if (part === "queue" && state.queue_stalled_s) return `${words} for ${state.queue_stalled_s} s`;
  if (part === "runners") {
    const count = state.workers === null ? "their number is not known" : `${state.workers} running`;
    return [count, words, ...state.shortages].join("; ");
  }
  if (part === "egress" && state.private_bots.length) return `${words}: ${state.private_bots.join(", ")}`;
  if (part === "audit" && state.audited_at) return `${words} (ended ${moment(state.audited_at)})`;
  return words;
}
