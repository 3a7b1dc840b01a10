// Play the featured match of the home page: live while it is played, else from its log.
import { Show, addPresentations, fetchPictures, fetchTable, readLog } from "../viewer/show_page.js";
import { rendered } from "./renewal.js";
import { readPublic } from "./public.js";

const PAGE = 1000; // rows per request
const PACE = 2;
const REST_MS = 8_000; // between the end of a match and the next one
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

/** Play the match that is described in `place`, then what the server features next. */
export class Featured {
  constructor(place) {
    this.place = place;
    this.show = null;
    this._fetching = null;
    this._next = 0;
    document.addEventListener("visibilitychange", () => this._followVisibility());
  }

  /** Show the match that is described in `place`. Reject if it cannot be fetched. */
  async begin() {
    this.known = JSON.parse(this.place.querySelector("script").textContent);
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
    this._followVisibility();
  }

  /** Take the featured match of a message of the stream: {match, items}, or null if there is none. */
  take(featured) {
    if (!this.show || this._fetching) return;
    const isOther = featured?.match !== this.known.id;
    if (this.known.open) {
      if (featured && isOther && !this.show.playing) this._planNext();
    } else if (isOther) {
      this._finish();
    } else if (featured.items.length && featured.items[0].number > this.last + 1) {
      this._fetchRows().catch(() => {}); // the next message tries again
    } else {
      this._add(featured.items);
    }
  }

  _add(items) {
    const fresh = items.filter(({ number }) => number > this.last);
    if (!fresh.length) return;
    this.last = fresh.at(-1).number;
    this.show.add(fresh);
  }

  _fetchRows() {
    this._fetching ??= this._fetchAll().finally(() => (this._fetching = null));
    return this._fetching;
  }

  async _fetchAll() {
    for (let more = true; more;) {
      const after = this.last < 0 ? "" : `&after=${this.last}`;
      const { items } = await readPublic(`/matches/${this.known.id}/rows?limit=${PAGE}${after}`);
      this._add(items);
      more = items.length === PAGE;
    }
  }

  /** Play the rest of a match that has ended. */
  async _finish() {
    this.known.open = true;
    await this._fetchRows().catch(() => {}); // without the last rows, it ends earlier
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
    const data = fresh?.querySelector("script");
    if (!data || JSON.parse(data.textContent).id === this.known.id) return;
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
