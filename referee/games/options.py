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
    """

    name: str
    kind: Kind
    default: int | bool | str | list[str]
    help: str
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
                fits, wanted = (
                    isinstance(value, str) and value in self.choices,
                    f"one of {', '.join(self.choices)}",
                )
            case "list":
                fits = isinstance(value, list) and all(
                    value.count(choice) == 1 and choice in self.choices for choice in value
                )
                wanted = f"a list of some of {', '.join(self.choices)}, each at most once"
        if not fits:
            raise BadOption(self.name, f"expected {wanted}, got {str(value)[:80]!r}")


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
