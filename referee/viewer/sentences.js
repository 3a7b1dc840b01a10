// Describe game events in sentences, with the templates in `presentations`, like sentences.py for the terminal.
// docs/architecture.md explains the template language.

import { PICTURE_SUITS, countNoun, theCard } from "./words.js";

const PIECE = /\[([^[\]]*)\]|\{([^{}]*)\}/g; // an optional part, or a placeholder
const SEAT_MEMBERS = ["seat", "dealer", "winner", "leader", "player"];
const SMALL_NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** Describe the events of one game. */
export class Sentences {
  constructor(presentation) {
    this._presentation = presentation;
  }

  /** Return an event as a sentence, "" if it needs none, or null if no template fits. `name(seat)` returns a name. */
  text(event, name) {
    return this._renderMessage("events", "text", event, name);
  }

  /** Return details that the table shows otherwise, in lines, or "" if there are none. */
  detail(event, name) {
    return this._renderMessage("events", "detail", event, name) ?? "";
  }

  /** Return the title of the round that begins with this event, or "" if none begins. */
  roundTitle(event) {
    return this._renderMessage("rounds", "text", event, String) ?? "";
  }

  _renderMessage(section, part, event, name) {
    const messages = this._presentation[section];
    if (!Object.hasOwn(messages, event.event)) return null;
    const message = messages[event.event];
    const template = typeof message === "object" ? (message[part] ?? "") : part === "text" ? message : "";
    try {
      const scope = { ...event, ...firstPlaces(event) };
      return this._fillTemplate(chooseTemplate(template, scope), scope, name);
    } catch {
      return null; // a log may contain events that no game would emit
    }
  }

  _fillTemplate(template, scope, name) {
    return template.replaceAll(PIECE, (_, optional, placeholder) => {
      if (optional === undefined) return this._value(placeholder, scope, name);
      const inner = [...optional.matchAll(PIECE)].map((found) => found[2]);
      return inner.some((placeholder) => isEmptyPlaceholder(placeholder, scope)) ? "" : this._fillTemplate(optional, scope, name);
    });
  }

  _value(placeholder, scope, name) {
    const [path, ...forms] = placeholder.split("|");
    return spellValue(forms.reduce((value, form) => this._applyForm(value, form.split(":"), scope, name), memberAt(path, scope)));
  }

  _applyForm(value, [kind, ...given], scope, name) {
    const { lists, words, score } = this._presentation;
    switch (kind) {
      case "name": return name(value);
      case "names": return listInWords(value.map((seat) => name(seat))) || "nobody";
      case "each": {
        const items = value.map((item, index) => this._fillTemplate(lists[given[0]], { ...scope, item, index }, name));
        return listInWords(items.filter(Boolean), given[1]);
      }
      case "word": return own(words[given[0]], value);
      case "score": return countNoun(value, score);
      case "gain": return `${value > 0 ? "wins" : "loses"} ${countNoun(Math.abs(value), given[0])}`;
      case "plural": return value.length === 1 ? given[0] : given[1];
      default: return own(FORMS, kind)(value, ...given);
    }
  }
}

/** Return a text for any event, with its name and its members, and players' names in place of seats. */
export function describeEvent(event, name) {
  const members = Object.entries(event).filter(([key]) => key !== "event");
  const words = members.map(([key, value]) => `${withSpaces(key)} ${plainValue(key, value, name)}`).join(", ");
  return `${withSpaces(event.event)}${words ? `: ${words}` : ""}`;
}

function plainValue(key, value, name) {
  if (SEAT_MEMBERS.includes(key) && Number.isInteger(value)) return name(value);
  if (Array.isArray(value)) return `[${value.map((item) => plainValue("", item, name)).join(" ")}]`;
  if (value && typeof value === "object") {
    return `{${Object.entries(value).map(([inner, item]) => `${withSpaces(inner)} ${plainValue(inner, item, name)}`).join(", ")}}`;
  }
  return value === null ? "-" : spellValue(value);
}

// -- templates --

function chooseTemplate(template, scope) {
  if (typeof template === "string") return template;
  return Object.entries(template).find(([condition]) => holds(condition, scope))?.[1] ?? "";
}

function holds(condition, scope) {
  if (condition === "otherwise") return true;
  const [path, relation, wanted] = condition.split(" ");
  const other = wanted.startsWith("$") ? spellValue(memberAt(wanted.slice(1), scope)) : wanted;
  return (spellValue(memberAt(path, scope)) === other) === (relation === "=");
}

function memberAt(path, scope) {
  return path.split(".").reduce((found, step) => own(found, step.startsWith("$") ? own(scope, step.slice(1)) : step), scope);
}

/** Return an own member of `holder`, because a log may name inherited members. Throw if there is none. */
function own(holder, member) {
  if (holder === null || holder === undefined || !Object.hasOwn(holder, member)) throw new TypeError(`no ${member}`);
  return holder[member];
}

/** Return the seats with placement 1 as `first` and one of them as `best`, or {} without placements. */
function firstPlaces(event) {
  const first = (event.placements ?? []).flatMap((place, seat) => (place === 1 ? [seat] : []));
  return first.length ? { first, best: first[0] } : {};
}

function isEmptyPlaceholder(placeholder, scope) {
  const [path, form] = placeholder.split("|");
  const value = memberAt(path, scope);
  return form === "name" ? value === null : isNothing(value);
}

function isNothing(value) {
  return Array.isArray(value) ? value.every(isNothing) : !value;
}

// -- forms --

function spellValue(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function withSpaces(name) {
  return String(name).replaceAll("_", " ");
}

/** Return texts joined like "a, b and c", or by `joint` if given. */
function listInWords(texts, joint) {
  if (joint || texts.length < 2) return texts.join(joint ?? "");
  return `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

/** Return cards in words, like "the ten of spades and the ace of hearts", "three hidden cards" or "no cards". */
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
  words: withSpaces,
  capital: (text) => text.slice(0, 1).toUpperCase() + text.slice(1),
  count: (number, noun) => countNoun(number, noun),
  length: (list) => list.length,
  total: (board) => Object.values(board).reduce((sum, chips) => sum + chips, 0),
};
