"""Describe and check the options of games: types, bounds and defaults. The module of a game interprets them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from referee.errors import BadOption

Kind = Literal["int", "bool", "choice", "list"]


@dataclass(frozen=True, slots=True)
class Option:
    """Describe one option of a game. ``low`` and ``high`` are inclusive bounds of an int.

    A ``list`` contains any of the choices, each at most once, in any order.

    ``sentence`` tells people what another value than the default means. It is a sentence, which may have ``{value}``,
    ``{default}`` and ``{s}`` (the plural of an int), or one for each value of a choice.
    """

    name: str
    kind: Kind
    default: int | bool | str | list[str]
    help: str
    sentence: str | Mapping[str, str] = ""
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()

    def check(self, value: Any) -> None:
        """Raise ``BadOption`` unless ``value`` has this option's type and is within its bounds or among its choices."""
        match self.kind:
            case "bool":
                fits, wanted = isinstance(value, bool), "true or false"
            case "int":
                fits = isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high
                wanted = f"a whole number from {self.low} to {self.high}"
            case "choice":
                fits, wanted = (isinstance(value, str) and value in self.choices, f"one of {', '.join(self.choices)}")
            case "list":
                fits = isinstance(value, list) and all(
                    value.count(choice) == 1 and choice in self.choices for choice in value
                )
                wanted = f"a list of some of {', '.join(self.choices)}, each at most once"
        if not fits:
            raise BadOption(self.name, f"expected {wanted}, got {str(value)[:80]!r}")

    def describe(self, value: Any, standard: Any) -> str:
        """Return a sentence about ``value``, which differs from ``standard``."""
        pattern = self.sentence if isinstance(self.sentence, str) else self.sentence.get(str(value), "")
        if not pattern:
            return f"{self.name.replace('_', ' ').capitalize()}: {_in_words(value)}."
        return pattern.format(value=_in_words(value), default=_in_words(standard), s="" if value == 1 else "s")


def describe_differences(specs: Sequence[Option], values: Mapping[str, Any], standard: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each option whose value differs from ``standard``, in the order of ``specs``.

    Options that are missing in ``values`` have their standard values.
    """
    changed = {name: value for name, value in values.items() if name in standard and value != standard[name]}
    return [spec.describe(changed[spec.name], standard[spec.name]) for spec in specs if spec.name in changed]


def _in_words(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case list():
            return ", ".join(map(_in_words, value)) or "none"
    return str(value).replace("_", " ")


def complete(specs: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options in the order of ``specs``, with given or default values. Sort lists as in ``choices``.

    Raise ``BadOption`` for an unknown name, a wrong type (a bool is not an int) or a value out of bounds.
    """
    known = {spec.name: spec for spec in specs}
    for name in given:
        if name not in known:
            raise BadOption(str(name)[:80], f"unknown option; available: {', '.join(known)}")
    values = {spec.name: given.get(spec.name, spec.default) for spec in specs}
    for spec in specs:
        spec.check(values[spec.name])
        if spec.kind == "list":
            values[spec.name] = [choice for choice in spec.choices if choice in values[spec.name]]
    return values


def parse_options(game_name: str, options: Sequence[Option], texts: Sequence[str]) -> dict[str, Any]:
    """Parse options of this game from texts like ``rounds=3``.

    Raise ``BadOption`` for a text in any other form or an unknown name.
    """
    specs = {spec.name: spec for spec in options}
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadOption(text, "write an option as name=value")
        if name not in specs:
            raise BadOption(name, f"{game_name} has no such option; it has {', '.join(specs)}")
        values[name] = _parse_value(specs[name], value)
    return values


def _parse_value(spec: Option, text: str) -> Any:
    if spec.kind == "bool":
        truths = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
        return truths.get(text.lower(), text)
    if spec.kind == "int" and text.removeprefix("-").isdecimal() and len(text) < 20:
        return int(text)
    if spec.kind == "list":
        return text.split(",") if text else []
    return text
