"""Validate format options and the number of entrants."""

from collections.abc import Mapping
from typing import Any

from referee.errors import BadOption


def refuse_unknown(given: Mapping[str, Any], *known: str) -> None:
    """Raise ``BadOption`` for the first option that is not among ``known``."""
    for name in given:
        if name not in known:
            names = ", ".join(known) if known else "none"
            raise BadOption(f"format_options.{name}", f"unknown option; options of this format: {names}")


def read_int(given: Mapping[str, Any], name: str, least: int, most: int) -> int | None:
    """Return a whole-number option, or None if absent. Raise ``BadOption`` unless it is from ``least`` to ``most``."""
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadOption(f"format_options.{name}", f"expected a whole number from {least} to {most}, not {value!r}")
    return value


def check_fills_a_table(entrants: int, seats: int) -> None:
    """Raise ``BadOption`` if the entrants do not fill a table."""
    if entrants < seats:
        entered = "1 bot is" if entrants == 1 else f"{entrants} bots are"
        raise BadOption("entries", f"a table has {seats} seats, but only {entered} entered")
