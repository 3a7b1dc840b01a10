"""Describe game events in sentences with the templates in ``presentations``, as ``sentences.js`` does in a browser.

``docs/architecture.md`` explains the template language.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from referee.games.cards import RANKS, SUITS
from referee.match.canonical import Json

SUIT_NAMES: Final = dict(zip(SUITS, ("clubs", "diamonds", "hearts", "spades"), strict=True))
RANK_NAMES: Final = dict(
    zip(
        RANKS,
        (*("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), "jack", "queen", "king", "ace"),
        strict=True,
    )
)
NUMBERS: Final = (*("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),)
PIECE: Final = re.compile(r"\[([^\[\]]*)\]|\{([^{}]*)\}")  # an optional part or a placeholder


class Sentences:
    """Describe the events of one game. ``name`` returns the name of the player at a seat."""

    def __init__(self, presentation: Json, name: Callable[[int], str]) -> None:
        self._presentation = presentation
        self._name = name

    def text(self, event: Json) -> str | None:
        """Return the event as a sentence, or "" if it needs none, or None if no template fits it."""
        return self._render_message("events", "text", event)

    def detail(self, event: Json) -> str:
        """Return, as lines, the details that the viewer's table shows in another way, or "" if there are none."""
        return self._render_message("events", "detail", event) or ""

    def round_title(self, event: Json) -> str:
        """Return the title of the round that begins with this event, or "" if none begins."""
        return self._render_message("rounds", "text", event) or ""

    def _render_message(self, section: str, part: str, event: Json) -> str | None:
        message = self._presentation[section].get(event["event"])
        if message is None:
            return None
        template = message.get(part, "") if isinstance(message, dict) else message if part == "text" else ""
        try:
            scope = {**event, **_winners(event)}
            return self._fill_template(_choose_template(template, scope), scope)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return None  # a log may contain events that no game would emit

    def _fill_template(self, template: str, scope: Json) -> str:
        return PIECE.sub(lambda found: self._piece(found[1], found[2], scope), template)

    def _piece(self, optional: str | None, placeholder: str, scope: Json) -> str:
        if optional is None:
            return self._value(placeholder, scope)
        if any(_says_nothing(found[2], scope) for found in PIECE.finditer(optional)):
            return ""
        return self._fill_template(optional, scope)

    def _value(self, placeholder: str, scope: Json) -> str:
        path, *forms = placeholder.split("|")
        value = _get_member(path, scope)
        for form in forms:
            kind, *arguments = form.split(":")
            value = self._apply_form(value, kind, arguments, scope)
        return value if isinstance(value, str) else _spell_value(value)

    def _apply_form(self, value: Any, kind: str, arguments: Sequence[str], scope: Json) -> Any:
        match kind, *arguments:
            case ["name"]:
                return self._name(value)
            case ["names"]:
                return _join_words([self._name(seat) for seat in value]) or "nobody"
            case ["each", entry, *joint]:
                template = self._presentation["lists"][entry]
                phrases = [
                    self._fill_template(template, {**scope, "item": item, "index": i}) for i, item in enumerate(value)
                ]
                return _join_words([words for words in phrases if words], *joint)
            case ["word", words]:
                return self._presentation["words"][words][value]
            case ["score"]:
                return _count_noun(value, self._presentation["score"])
            case ["gain", noun]:
                return f"{'wins' if value > 0 else 'loses'} {_count_noun(abs(value), noun)}"
            case ["plural", one, several]:
                return one if len(value) == 1 else several
            case _:
                return FORMS[kind](value, *arguments)


def describe_event(event: Json, name: Callable[[int], str]) -> str:
    """Return a text for any event, with its name and its members, and players' names in place of seats."""
    members = ", ".join(
        f"{_words(key)} {_describe_value(key, value, name)}" for key, value in event.items() if key != "event"
    )
    return _words(event["event"]) + (f": {members}" if members else "")


def _describe_value(key: str, value: Any, name: Callable[[int], str]) -> str:
    if key in ("seat", "dealer", "winner", "leader", "player") and type(value) is int:
        return name(value)
    if isinstance(value, list):
        return "[" + " ".join(_describe_value("", item, name) for item in value) + "]"
    if isinstance(value, dict):
        members = (f"{_words(inner)} {_describe_value(inner, item, name)}" for inner, item in value.items())
        return "{" + ", ".join(members) + "}"
    return "-" if value is None else _spell_value(value)


# -- templates --


def _choose_template(template: str | dict[str, str], scope: Json) -> str:
    if isinstance(template, str):
        return template
    return next((text for condition, text in template.items() if _holds(condition, scope)), "")


def _holds(condition: str, scope: Json) -> bool:
    if condition == "otherwise":
        return True
    path, relation, wanted = condition.split(" ")
    other = _spell_value(_get_member(wanted[1:], scope)) if wanted.startswith("$") else wanted
    return (_spell_value(_get_member(path, scope)) == other) is (relation == "=")


def _get_member(path: str, scope: Json) -> Any:
    found: Any = scope
    for step in path.split("."):
        key = scope[step[1:]] if step.startswith("$") else step
        found = found[key] if isinstance(found, dict) else found[int(key)]
    return found


def _winners(event: Json) -> Json:
    """Return the seats with placement 1 as ``first`` and one of them as ``best``, or {} if there are no placements."""
    first = [seat for seat, place in enumerate(event.get("placements", [])) if place == 1]
    return {"first": first, "best": first[0]} if first else {}


def _says_nothing(placeholder: str, scope: Json) -> bool:
    path, *forms = placeholder.split("|")
    value = _get_member(path, scope)
    return value is None if forms[:1] == ["name"] else _is_nothing(value)


def _is_nothing(value: Any) -> bool:
    return all(map(_is_nothing, value)) if isinstance(value, list) else value in (None, False, 0, "")


# -- forms --


def _spell_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _join_words(texts: Sequence[str], joint: str = "") -> str:
    if joint or len(texts) < 2:
        return joint.join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def _count_noun(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _card(card: str) -> str:
    if card[0] == "X":
        return "a joker"
    known = len(card) == 2 and card[0] in RANKS and card[1] in SUITS
    return f"the {RANK_NAMES[card[0]]} of {SUIT_NAMES[card[1]]}" if known else "a hidden card"


def _cards(cards: Sequence[str]) -> str:
    known_cards = [words for words in map(_card, cards) if words != "a hidden card"]
    hidden = len(cards) - len(known_cards)
    if hidden:
        number = NUMBERS[hidden] if hidden < len(NUMBERS) else hidden
        known_cards.append("a hidden card" if hidden == 1 else f"{number} hidden cards")
    return _join_words(known_cards) or "no cards"


FORMS: Final[dict[str, Callable[..., Any]]] = {
    "card": _card,
    "cards": _cards,
    "faces": " ".join,
    "suit": lambda suit: SUIT_NAMES[suit],
    "words": _words,
    "capital": lambda text: text[:1].upper() + text[1:],
    "count": _count_noun,
    "length": len,
    "total": lambda board: sum(board.values()),
}
