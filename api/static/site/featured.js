// Play the featured match of the home page: from its stream while it is played, else from its log.
import { Show, addPresentations, fetchPictures, fetchTable, readLog } from "../viewer/show_page.js";
import { follow } from "./live.js";
import { rendered } from "./renewal.js";
import { readPublic } from "./public.js";

const PAGE = 1000; // rows per request
const RUNNING = "running";
const PACE = 2;
const REST_MS = 8_000; // between the end of a match and the next one
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

/** Play the match that is described in `place`, then what the server features next. */
export class Featured {
  constructor(place) {
    this.place = place;
    this.show = null;
    this._next = 0;
    this._unfollow = () => {};
    document.addEventListener("visibilitychange", () => this._followVisibility());
  }

  /** Show the match that is described in `place`. Reject if it cannot be fetched. */
  async begin() {
    this.known = matchIn(this.place);
    this.last = -1; // number of the last row
    this._wanted = !STILL.matches; // whether it plays when the tab is visible
    const { id, header, open, presentations } = this.known;
    addPresentations(presentations);
    await Promise.all([fetchTable(header.game), fetchPictures(), addStyle(this.place.dataset.style)]);
    const rows = open ? await fetchLog(id) : [];
    this.button = this.place.querySelector("button");
    this.button.hidden = false;
    this.button.addEventListener("click", () => {
      this._wanted = !this.show.playing;
      this._followVisibility();
    });
    this.show = new Show(this.place.querySelector(".featured-table"), { header, rows, live: !open, pace: PACE, ended: () => this._rest() });
    if (!open) await this._fetchRows();
    if (!this.known.open) this._follow();
    this._followVisibility();
  }

  /** Take a new rendering of the page: if another match is being played, and this one no more, show that one soon. */
  take(fresh) {
    const next = matchIn(fresh.getElementById("featured"));
    if (next && !next.open && next.id !== this.known.id && this.show && this.known.open && !this.show.playing) this._planNext();
  }

  _follow() {
    const url = `/api/v1/matches/${this.known.id}/stream${this.last < 0 ? "" : `?after=${this.last}`}`;
    const note = (state) => this._note(state);
    this._unfollow = follow(url, { rows: ({ items }) => this._add(items), state: note, end: note }, { poll: () => this._fetchRows(), onState() {} });
  }

  _add(items) {
    const fresh = items.filter(({ number }) => number > this.last);
    if (!fresh.length) return;
    this.last = fresh.at(-1).number;
    this.show.add(fresh);
  }

  async _fetchRows() {
    const rows = await readPublic(`/matches/${this.known.id}/rows?limit=${PAGE}${this.last < 0 ? "" : `&after=${this.last}`}`);
    this._add(rows.items);
    if (rows.items.length === PAGE) return this._fetchRows();
    this._note(rows);
  }

  /** If the match is no longer played, play the rest of it. */
  _note({ status }) {
    if (status === RUNNING || this.known.open) return;
    this.known.open = true;
    this._unfollow();
    this.show.close();
  }

  /** Rest at the last event, then show the next match. */
  _rest() {
    this._wanted = false;
    this._label();
    this._planNext();
  }

  _planNext() {
    this._next ||= setTimeout(() => {
      this._next = 0;
      this._showNext().catch(() => {}); // the table stays as it is
    }, REST_MS);
  }

  /** Show what the server features now, if it is another match. */
  async _showNext() {
    if (document.hidden || this.show.playing) return;
    const fresh = (await rendered())?.getElementById("featured");
    if ((matchIn(fresh)?.id ?? this.known.id) === this.known.id) return;
    this.show.pause();
    this.show = null;
    this.place.replaceChildren(...fresh.childNodes);
    await this.begin();
  }

  _followVisibility() {
    if (!this.show) return;
    if (this._wanted && !document.hidden) this.show.play();
    else this.show.pause();
    this._label();
  }

  _label() {
    this.button.textContent = this._wanted ? "Pause" : "Play";
  }
}

/** Return the match that is described in `place`, or null without one. */
function matchIn(place) {
  const data = place?.querySelector("script");
  return data ? JSON.parse(data.textContent) : null;
}

async function fetchLog(id) {
  const answer = await fetch(`/api/v1/matches/${id}/log`);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return readLog(new Uint8Array(await answer.arrayBuffer())).rows;
}

/** Add a style sheet to the page, once. */
function addStyle(href) {
  if (document.querySelector(`link[href="${href}"]`)) return null;
  const link = document.createElement("link");
  return new Promise((loaded, failed) => {
    link.addEventListener("load", loaded);
    link.addEventListener("error", failed);
    Object.assign(link, { rel: "stylesheet", href });
    document.head.append(link);
  });
}
