// Keep the place in a replay in the address, so that reloading the page and Back return to it.

const WRITE_MS = 350; // shortest time between two changes, because browsers refuse more than about three per second

/** Return the moment that a hash names: `#e75` event 75, `#d17` decision 17, `#row-17` row 17. Return -1 if there is none. */
export function momentOf(replay, hash) {
  const found = /^#(e|d|row-)(\d{1,7})$/.exec(hash);
  if (!found) return -1;
  const number = Number(found[2]);
  if (found[1] === "d") return replay.momentOfDecision(number);
  if (found[1] === "row-") return replay.momentOfRow(number);
  return number >= 1 && number - 1 <= replay.last && !replay.live ? number - 1 : -1;
}

/** Write places to the address of the page. */
export class Address {
  constructor() {
    this._at = -1; // the moment that the address names, or soon will
    this._timer = 0;
    this._written = -Infinity;
  }

  /** Remember that the address already names this moment. */
  names(at) {
    this._at = at;
    clearTimeout(this._timer);
    this._timer = 0;
  }

  /** Change the address so that it names this moment. */
  step(at) {
    if (at === this._at) return;
    this._at = at;
    const { hash } = location;
    const write = () => {
      this._timer = 0;
      if (location.hash === hash) this._write("replaceState"); // otherwise the reader has changed the address meanwhile
    };
    this._timer ||= setTimeout(write, Math.max(0, this._written + WRITE_MS - performance.now()));
  }

  /** Add an entry to the history, so that Back returns from the moment `to` to the moment `from`. */
  jump(from, to) {
    if (from === to) return;
    this.names(from);
    this._write("replaceState");
    this.names(to);
    this._write("pushState");
  }

  _write(how) {
    this._written = performance.now();
    try {
      history[how](history.state, "", `#e${this._at + 1}`);
    } catch {
      // Some browsers refuse this for files, or if it is too frequent. The page works without it.
    }
  }
}
