"""Reading a format's own options: every refusal names the option as the event's document spells it."""

from collections.abc import Mapping
from typing import Any

from referee.errors import BadOption


def only(given: Mapping[str, Any], *known: str) -> None:
    """Raises ``BadOption`` for the first option that is not among the known ones."""
    for name in given:
        if name not in known:
            names = ", ".join(known) if known else "none"
            raise BadOption(f"format_options.{name}", f"unknown; this format's options: {names}")


def whole(given: Mapping[str, Any], name: str, least: int, most: int) -> int | None:
    """A whole number in bounds; None where none is given. Raises ``BadOption``."""
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadOption(f"format_options.{name}", f"a whole number from {least} to {most} is expected, not {value!r}")
    return value
