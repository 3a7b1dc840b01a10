// Follow a stream of server-sent events, and poll where streams do not work or another tab has its turn.
import { markLive } from "./live_mark.js";
import { shareTurns } from "./tab_turn.js";

const RETRY_STREAM_MS = 30_000;
const SILENT_MS = 10_000; // without a first message, a proxy is assumed to buffer the stream
const APART = 0.5; // share of random delay, so that clients do not all reconnect at the same time

/**
 * Call `handlers[name](data)` for each message of the stream at `url` until it ends; call the handler `end` last. While
 * the stream is refused, cut off or buffered by a proxy, or another tab of the browser was looked at since, call `poll()`
 * every `everyMs`, unless this tab is hidden. Reconnect with the id of the last message as `after`. Report changes of the
 * state to `onState`: "live", "polling", "away" or "over". Return a function that stops.
 */
export function follow(url, handlers, { poll = null, everyMs = 5_000, onState = markLive } = {}) {
  let source = null;
  let timer = 0;
  let again = 0;
  let silent = 0;
  let over = false;
  let asking = false;
  let last = "";

  const letGo = () => {
    source?.close();
    source = null;
    clearInterval(timer);
    timer = 0;
    clearTimeout(again);
    clearTimeout(silent);
  };
  const stop = () => {
    over = true;
    letGo();
    endTurns();
  };
  const finish = (data) => {
    stop();
    onState("over");
    handlers.end?.(data);
  };
  const ask = async () => {
    if (asking || document.hidden) return; // one request at a time, and none for a hidden tab
    asking = true;
    try {
      await poll();
      if (!over && timer) onState("polling");
    } catch {
      if (!over && timer) onState("away");
    } finally {
      asking = false;
    }
  };
  const startPolling = () => {
    if (over || timer || !poll) return;
    timer = setInterval(ask, everyMs);
    ask();
  };
  const fallBack = () => {
    if (over || timer) return;
    onState("away");
    startPolling();
  };
  const hear = () => {
    clearTimeout(silent);
    clearInterval(timer);
    timer = 0;
  };
  const listen = () => {
    clearTimeout(silent);
    silent = setTimeout(fallBack, SILENT_MS);
  };
  const open = () => {
    if (over) return;
    source = new EventSource(last ? resumeAfter(url, last) : url);
    listen();
    source.onopen = () => {
      hear();
      listen();
      onState("live");
    };
    source.onerror = () => {
      fallBack();
      if (source.readyState !== EventSource.CLOSED || over) return; // in other states, the browser reconnects
      again = setTimeout(open, RETRY_STREAM_MS * (1 + APART * Math.random()));
    };
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (message) => {
        if (timer) onState("live");
        hear();
        if (/^\d+$/.test(message.lastEventId)) last = message.lastEventId;
        const data = message.data ? JSON.parse(message.data) : null;
        if (name === "end") finish(data);
        else handle(data, message.lastEventId);
      });
    }
  };

  const takeTurn = () => {
    if (!source) open();
  };
  const yieldTurn = () => {
    letGo();
    startPolling();
  };
  const endTurns = shareTurns(takeTurn, yieldTurn);
  return stop;
}

/** Return the URL of a stream that begins after the message with this id. */
function resumeAfter(url, id) {
  const further = new URL(url, location.href);
  further.searchParams.set("after", id);
  return further;
}
