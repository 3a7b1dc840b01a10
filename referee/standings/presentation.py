"""Define the columns of standings for people: their headings, what they mean, and how their values are written.

Tables for the terminal, in Markdown and on pages are made of these columns. Rows are those of the API.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.figures import decimal
from referee.standings.table import TIE_BREAKS

Row = Mapping[str, Any]

TIE_BREAK_WORDS: Final[Mapping[str, tuple[str, str]]] = {  # heading, meaning
    "points": ("Points", "for each match, the share of opponents beaten; a tied opponent counts half"),
    "points_per_match": ("Points per match", "points divided by the number of matches played"),
    "buchholz": ("Buchholz", "strength of the opponents: the sum of their points"),
    "head_to_head": ("Head to head", "points against the entrants who are tied so far"),
    "sonneborn_berger": ("Sonneborn-Berger", "points of the opponents beaten, and half those of tied ones"),
    "wins": ("Wins", "matches won outright"),
    "bracket": ("Bracket", "the rank reached in the bracket"),
}
SHOWN_ELSEWHERE: Final = ("wins", "bracket")  # by won–drawn–lost, and by the ranks; whole numbers


@dataclass(frozen=True, slots=True)
class StandingsColumn:
    """Describe a column. ``digits`` are the decimals of a number."""

    name: str
    heading: str
    write: Callable[[Row], str]
    digits: int = 0
    means: str = ""


def deciding_columns(format: str, seats: int) -> list[StandingsColumn]:
    """Return the columns that decide ranks, in order."""
    return [_tie_break_column(name, seats) for name in TIE_BREAKS[format]]


def shown_tie_breaks(format: str, seats: int, *, all_columns: bool) -> list[StandingsColumn]:
    """Return the deciding columns that a table shows: the first one, or all.

    Leave out those that other columns of every table show.
    """
    found = deciding_columns(format, seats)
    return [column for column in found[: None if all_columns else 1] if column.name not in SHOWN_ELSEWHERE]


def text_columns(format: str, seats: int, *, all_columns: bool = False) -> list[StandingsColumn]:
    """Return the columns of a table without links and pictures. Those named bot and owner are texts."""
    shown = shown_tie_breaks(format, seats, all_columns=all_columns)
    return [
        StandingsColumn("rank", "Rank", lambda row: str(row["rank"])),
        StandingsColumn("bot", "Bot", _name_with_marks),
        StandingsColumn("owner", "Owner", lambda row: str(row["owner_name"])),
        *shown,
        *([] if "points" in [column.name for column in shown] else [_points(seats)]),
        StandingsColumn("record", "Won-drawn-lost", lambda row: f"{row['wins']}-{row['draws']}-{row['losses']}"),
        *(MORE_COLUMNS if all_columns else ()),
    ]


def tie_break(row: Row, name: str) -> Any:
    """Return the value of a tie-break in a row, or None without one."""
    return next((rule["value"] for rule in row["tie_breaks"] if rule["name"] == name), None)


def point_digits(seats: int) -> int:
    """Return the number of decimals of points. With two seats, they are always whole or half."""
    return 1 if seats == 2 else 2


def _tie_break_column(name: str, seats: int) -> StandingsColumn:
    heading, means = TIE_BREAK_WORDS[name]
    digits = {"points_per_match": 3, "sonneborn_berger": 2}.get(name, point_digits(seats))
    digits = 0 if name in SHOWN_ELSEWHERE else digits

    return StandingsColumn(name, heading, lambda row: _number(tie_break(row, name), digits), digits, means)


def _points(seats: int) -> StandingsColumn:
    digits = point_digits(seats)
    return StandingsColumn("points", "Points", lambda row: _number(row["points"], digits), digits)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else decimal(value, digits)


def _interval(row: Row) -> str:
    bar = row["error_bar"]
    return "–" if bar["low"] is None else f"{bar['low']:.2f} to {bar['high']:.2f} ({bar['groups']})"


def _name_with_marks(row: Row) -> str:
    """Return the bot's name, followed by marks if it was disqualified or withdrawn, or changed its version."""
    marks = {
        "disqualified": row["disqualification"] is not None,
        "withdrawn": row["withdrawn"] and row["disqualification"] is None,
        "new version": row["version_changed"],
    }
    shown = [mark for mark, holds in marks.items() if holds]
    return str(row["name"]) + (f" ({', '.join(shown)})" if shown else "")


MORE_COLUMNS: Final[Sequence[StandingsColumn]] = (
    StandingsColumn("matches", "Matches", lambda row: str(row["matches"])),
    StandingsColumn("returns", "Returns", lambda row: str(row["returns"])),
    StandingsColumn("per_match", "Per match", lambda row: _number(row["points_per_match"], 2)),
    StandingsColumn("interval", "95 % (groups)", _interval),
)
