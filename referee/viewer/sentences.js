// Puts game events into words, by the templates in `presentations`. sentences.py does the same for the terminal.
// What a template may contain is explained in docs/architecture.md.

import { PICTURE_SUITS, counted, theCard } from "./words.js";

const PIECE = /\[([^[\]]*)\]|\{([^{}]*)\}/g; // an optional part, or a placeholder
const SEAT_MEMBERS = ["seat", "dealer", "winner", "leader", "player"];
const SMALL_NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** The sentences of one game. */
export class Sentences {
  constructor(presentation) {
    this._presentation = presentation;
  }

  /** An event as a sentence, "" if it needs none; null if it has no template. `name(seat)` is who sits there. */
  text(event, name) {
    return this._written("events", "text", event, name);
  }

  /** What is drawn around the table, in lines. */
  detail(event, name) {
    return this._written("events", "detail", event, name) ?? "";
  }

  /** The title of the round that begins with this event, or "". */
  opens(event) {
    return this._written("rounds", "text", event, String) ?? "";
  }

  _written(section, part, event, name) {
    const messages = this._presentation[section];
    if (!Object.hasOwn(messages, event.event)) return null;
    const message = messages[event.event];
    const template = typeof message === "object" ? (message[part] ?? "") : part === "text" ? message : "";
    try {
      const scope = { ...event, ...firstPlaces(event) };
      return this._filled(chosenTemplate(template, scope), scope, name);
    } catch {
      return null; // a log may contain what no game would write
    }
  }

  _filled(template, scope, name) {
    return template.replaceAll(PIECE, (_, optional, placeholder) => {
      if (optional === undefined) return this._value(placeholder, scope, name);
      const inner = [...optional.matchAll(PIECE)].map((found) => found[2]);
      return inner.some((one) => saysNothing(one, scope)) ? "" : this._filled(optional, scope, name);
    });
  }

  _value(placeholder, scope, name) {
    const [path, ...forms] = placeholder.split("|");
    return spelled(forms.reduce((value, form) => this._formed(value, form.split(":"), scope, name), memberAt(path, scope)));
  }

  _formed(value, [kind, ...given], scope, name) {
    const { lists, words, score } = this._presentation;
    switch (kind) {
      case "name": return name(value);
      case "names": return listInWords(value.map((seat) => name(seat))) || "nobody";
      case "each": {
        const told = value.map((item, index) => this._filled(lists[given[0]], { ...scope, item, index }, name));
        return listInWords(told.filter(Boolean), given[1]);
      }
      case "word": return own(words[given[0]], value);
      case "score": return counted(value, score);
      case "gain": return `${value > 0 ? "wins" : "loses"} ${counted(Math.abs(value), given[0])}`;
      case "plural": return value.length === 1 ? given[0] : given[1];
      default: return own(FORMS, kind)(value, ...given);
    }
  }
}

/** Any event as its name and its members; a seat by who sits there. */
export function plainly(event, name) {
  const members = Object.entries(event).filter(([key]) => key !== "event");
  const told = members.map(([key, value]) => `${spaced(key)} ${plainValue(key, value, name)}`).join(", ");
  return `${spaced(event.event)}${told ? `: ${told}` : ""}`;
}

function plainValue(key, value, name) {
  if (SEAT_MEMBERS.includes(key) && Number.isInteger(value)) return name(value);
  if (Array.isArray(value)) return `[${value.map((item) => plainValue("", item, name)).join(" ")}]`;
  if (value && typeof value === "object") {
    return `{${Object.entries(value).map(([inner, item]) => `${spaced(inner)} ${plainValue(inner, item, name)}`).join(", ")}}`;
  }
  return value === null ? "-" : spelled(value);
}

// -- templates --

function chosenTemplate(template, scope) {
  if (typeof template === "string") return template;
  return Object.entries(template).find(([condition]) => holds(condition, scope))?.[1] ?? "";
}

function holds(condition, scope) {
  if (condition === "otherwise") return true;
  const [path, relation, wanted] = condition.split(" ");
  const other = wanted.startsWith("$") ? spelled(memberAt(wanted.slice(1), scope)) : wanted;
  return (spelled(memberAt(path, scope)) === other) === (relation === "=");
}

function memberAt(path, scope) {
  return path.split(".").reduce((found, step) => own(found, step.startsWith("$") ? own(scope, step.slice(1)) : step), scope);
}

/** A member that is there; a log may name those that every object has. */
function own(holder, member) {
  if (holder === null || holder === undefined || !Object.hasOwn(holder, member)) throw new TypeError(`no ${member}`);
  return holder[member];
}

/** `first` are the seats in first place, `best` is one of them. */
function firstPlaces(event) {
  const first = (event.placements ?? []).flatMap((place, seat) => (place === 1 ? [seat] : []));
  return first.length ? { first, best: first[0] } : {};
}

function saysNothing(placeholder, scope) {
  const [path, form] = placeholder.split("|");
  const value = memberAt(path, scope);
  return form === "name" ? value === null : isNothing(value);
}

function isNothing(value) {
  return Array.isArray(value) ? value.every(isNothing) : !value;
}

// -- forms --

function spelled(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function spaced(name) {
  return String(name).replaceAll("_", " ");
}

/** "a, b and c", or with a joint "a; b; c". */
function listInWords(texts, joint) {
  if (joint || texts.length < 2) return texts.join(joint ?? "");
  return `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

/** "the ten of spades and the ace of hearts", "three hidden cards", "no cards". */
function cardList(cards) {
  const open = cards.map(theCard).filter((words) => words !== "a hidden card");
  const hidden = cards.length - open.length;
  if (hidden) open.push(hidden === 1 ? "a hidden card" : `${SMALL_NUMBERS[hidden] ?? hidden} hidden cards`);
  return listInWords(open) || "no cards";
}

const FORMS = {
  card: theCard,
  cards: cardList,
  faces: (cards) => cards.join(" "),
  suit: (suit) => own(PICTURE_SUITS, suit),
  words: spaced,
  capital: (text) => text.slice(0, 1).toUpperCase() + text.slice(1),
  count: (number, noun) => counted(number, noun),
  length: (list) => list.length,
  total: (board) => Object.values(board).reduce((sum, chips) => sum + chips, 0),
};
