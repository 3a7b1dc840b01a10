"""Name rounds, tables and states of entries in words."""

from collections.abc import Mapping
from typing import Final

from referee.tournaments.table_options import table_sizes
from referee.tournaments.tables import Tournament

ROUNDS: Final[Mapping[str, str]] = {
    "final": "Final",
    "semi_final": "Semi-finals",
    "quarter_final": "Quarter-finals",
    "third_place": "Third place",
}
PREFLIGHTS: Final[Mapping[str, str]] = {
    "none": "not called yet",
    "asked": "being called",
    "ready": "ready",
    "absent": "absent",
}
ONE_OWNER_TWICE: Final = "A match with two bots of one owner counts in the standings, but is not rated."


def round_name(number: int, label: str) -> str:
    """Return the name of a tournament round, such as ``Round 3``, ``Last 16`` or ``Semi-finals``."""
    if label.startswith("last_"):
        return f"Last {label.removeprefix('last_')}"
    return ROUNDS.get(label, label.replace("_", " ").capitalize()) if label else f"Round {number}"


def table_name(number: int | None, label: str = "") -> str:
    return ROUNDS[label] if label in ("final", "third_place") else f"Table {number}"


def describe_sizes(tournament: Tournament, entered: int) -> str:
    """Return the sizes of the tables of a round of all entered bots: "4", or "4 and 3"."""
    return " and ".join(map(str, table_sizes(tournament, entered)))
