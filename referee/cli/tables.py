"""Format rows of the API as tables for the terminal: as aligned text, with a bold title in the live view."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from referee.cli.table_layout import Cells, layout, terminal_width, wrap
from referee.match.canonical import Json

OWN_COLUMN = ("points", "wins")  # tie-breaks that have a column in every table


@dataclass(frozen=True, slots=True)
class TextTable:
    """Hold the headings and rows of a table. Columns named in ``left`` are left-aligned, all others right-aligned."""

    headings: Cells
    rows: Sequence[Cells]
    left: Collection[str] = ("bot",)
    title: str = ""

    def plain(self, width: int | None = None) -> str:
        """Return the table as lines of text, beginning with the title if there is one.

        No line is wider than ``width``, by default that of the terminal. No text is cut: a row that does not fit takes
        several lines.
        """
        width = width or terminal_width()
        title = wrap(self.title, width) if self.title else []
        return "\n".join([*title, *layout([self.headings, *self.rows], self.left, width)])

    def render_styled(self, limit: int | None = None, *, width: int) -> Text:
        """Return the table in the same layout with a bold title, and with at most ``limit`` lines below the first."""
        title = wrap(self.title, width) if self.title else []
        lines = layout([self.headings, *self.rows[:limit]], self.left, width)[: limit and limit + 1]
        return Text("\n").join([*(Text(line, style="bold") for line in title), *map(Text, lines)])


def standings(
    title: str, rows: Sequence[Json], *, error_bars: bool = False, ratings: dict[str, float] | None = None
) -> TextTable:
    """Return a table of a tournament's standings, with the tie-breaks of its format in the order in which they decide.

    ``ratings``, keyed by bot id, fills an additional column. ``error_bars`` adds the points per match with their 95 %
    interval.
    """
    names = [rule["name"] for rule in rows[0]["tie_breaks"] if rule["name"] not in OWN_COLUMN] if rows else []
    heads = ["rank", "bot", "matches", "points", *(name.replace("_", " ") for name in names), "wins", "returns"]
    heads += ["per match", "95 % (groups)"] if error_bars else []
    heads += [] if ratings is None else ["rating"]
    cells = [[*_standings_row(row, names), *(_error_bar(row) if error_bars else [])] for row in rows]
    if ratings is not None:
        for shown, row in zip(cells, rows, strict=True):
            shown.append(f"{ratings[row['bot']]:.1f}" if row["bot"] in ratings else "-")
    return TextTable(heads, cells, title=title)


def ladder(title: str, rows: Sequence[Json]) -> TextTable:
    """Return a table of ladder rows."""
    cells = [[str(row["rank"]), row["name"], rating(row), str(row["games"])] for row in rows]
    return TextTable(["rank", "bot", "rating", "matches"], cells, title=title)


def rating(row: Json) -> str:
    """Return the rating of a ladder row with its 95 % error, such as "1612 ± 34", or without one if it is not known."""
    error = row.get("error")
    return f"{row['rating']:.1f}" if error is None else f"{row['rating']:.0f} ± {error:.0f}"


def number(value: Any) -> str:
    """Return ``value`` as text: None as a dash, and a float with at most two decimals and no trailing zeros."""
    if value is None:
        return "-"
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _standings_row(row: Json, tie_breaks: Sequence[str]) -> Iterator[str]:
    values = {rule["name"]: rule["value"] for rule in row["tie_breaks"]}
    yield from (str(row["rank"]), _name_with_marks(row), str(row["matches"]), number(row["points"]))
    yield from (number(values.get(name)) for name in tie_breaks)
    yield from (str(row["wins"]), str(row["returns"]))


def _error_bar(row: Json) -> Iterator[str]:
    bar = row["error_bar"]
    yield number(row["points_per_match"])
    yield "-" if bar["low"] is None else f"{bar['low']:.2f} to {bar['high']:.2f} ({bar['groups']})"


def _name_with_marks(row: Json) -> str:
    """Return the bot's name, followed by marks if it was withdrawn or changed its version."""
    marks = [mark for mark, field in (("withdrawn", "withdrawn"), ("new version", "version_changed")) if row.get(field)]
    return str(row["name"]) + (f" ({', '.join(marks)})" if marks else "")
