"""Check the input of a format: its own options, and whether there are enough entrants for a table."""

from collections.abc import Mapping
from typing import Any

from referee.errors import BadOption


def refuse_unknown(given: Mapping[str, Any], *known: str) -> None:
    """Raises ``BadOption`` for the first option that is not among the known ones."""
    for name in given:
        if name not in known:
            names = ", ".join(known) if known else "none"
            raise BadOption(f"format_options.{name}", f"unknown; this format's options: {names}")


def read_int(given: Mapping[str, Any], name: str, least: int, most: int) -> int | None:
    """A whole number in bounds; None where none is given. Raises ``BadOption``."""
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadOption(f"format_options.{name}", f"a whole number from {least} to {most} is expected, not {value!r}")
    return value


def check_fills_a_table(entrants: int, seats: int) -> None:
    """Raise ``BadOption`` when there are fewer entrants than a table has seats."""
    if entrants < seats:
        entered = "1 bot is" if entrants == 1 else f"{entrants} bots are"
        raise BadOption("entries", f"a table has {seats} seats, but only {entered} entered")
