"""Format rows of the API as tables for the terminal: as aligned text, with a bold title in the live view."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from referee.cli.table_layout import Cells, layout, terminal_width, wrap
from referee.match.canonical import Json
from referee.standings.presentation import text_columns


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


def standings(tournament: Json, title: str, rows: Sequence[Json], *, all_columns: bool = False) -> TextTable:
    """Return a table of a tournament's standings. ``all_columns`` adds those of ``text_columns``."""
    columns = text_columns(tournament["format"], tournament["seats"], all_columns=all_columns)
    cells = [[column.write(row) for column in columns] for row in rows]
    return TextTable([column.heading.lower() for column in columns], cells, left=("bot", "owner"), title=title)


def ladder(title: str, rows: Sequence[Json]) -> TextTable:
    """Return a table of ladder rows."""
    cells = [[str(row["rank"]), row["name"], rating(row), str(row["games"])] for row in rows]
    return TextTable(["rank", "bot", "rating", "matches"], cells, title=title)


def rating(row: Json) -> str:
    """Return the rating of a ladder row with its 95 % error, such as "1598 ± 34", or "1598" while it has none."""
    error = row.get("rating_error")
    return f"{row['rating']:.0f}" if error is None else f"{row['rating']:.0f} ± {error:.0f}"


def number(value: Any) -> str:
    """Return ``value`` as text: None as a dash, and a float with at most two decimals and no trailing zeros."""
    if value is None:
        return "-"
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
