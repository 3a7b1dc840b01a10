"""Format rows of the API as tables for the terminal: as aligned text, with a bold title in the live view."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from referee.cli.table_layout import Cells, layout, terminal_width, wrap
from referee.match.canonical import Json

OWN_COLUMN = ("points", "wins", "bracket")  # tie-breaks that other columns of every table show


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


def standings(title: str, rows: Sequence[Json], *, all_columns: bool = False) -> TextTable:
    """Return a table of a tournament's standings: ranks, bots, owners, what decides first, points, and won-drawn-lost.

    ``all_columns`` adds the tie-breaks of the format in the order in which they decide, except those that no row has,
    and the matches, returns and points per match with their 95 % interval.
    """
    values = [{rule["name"]: rule["value"] for rule in row["tie_breaks"]} for row in rows]
    deciding = [name for name in (values[0] if rows else ()) if any(found[name] is not None for found in values)]
    names = [name for name in deciding[: None if all_columns else 1] if name not in OWN_COLUMN]
    before, behind = (names, []) if deciding[:1] == names[:1] else ([], names)
    heads = ["rank", "bot", "owner", *before, "points", *behind, "won-drawn-lost"]
    heads += ["matches", "returns", "per match", "95 % (groups)"] if all_columns else []
    cells = [
        [
            *(str(row["rank"]), _name_with_marks(row), row["owner_name"]),
            *(number(found[name]) for name in before),
            number(row["points"]),
            *(number(found[name]) for name in behind),
            f"{row['wins']}-{row['draws']}-{row['losses']}",
            *(_more_columns(row) if all_columns else ()),
        ]
        for row, found in zip(rows, values, strict=True)
    ]
    return TextTable([head.replace("_", " ") for head in heads], cells, left=("bot", "owner"), title=title)


def ladder(title: str, rows: Sequence[Json]) -> TextTable:
    """Return a table of ladder rows."""
    cells = [[str(row["rank"]), row["name"], f"{row['rating']:.1f}", strength(row), str(row["games"])] for row in rows]
    return TextTable(["rank", "bot", "rating", "strength", "matches"], cells, title=title)


def strength(row: Json) -> str:
    """Return the strength of a ladder row with its 95 % error, such as "1598 ± 34", or a dash if it is not known."""
    if row.get("strength") is None:
        return "-"
    return f"{row['strength']:.0f} ± {row['strength_error']:.0f}"


def number(value: Any) -> str:
    """Return ``value`` as text: None as a dash, and a float with at most two decimals and no trailing zeros."""
    if value is None:
        return "-"
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _more_columns(row: Json) -> Iterator[str]:
    bar = row["error_bar"]
    yield from (str(row["matches"]), str(row["returns"]), number(row["points_per_match"]))
    yield "-" if bar["low"] is None else f"{bar['low']:.2f} to {bar['high']:.2f} ({bar['groups']})"


def _name_with_marks(row: Json) -> str:
    """Return the bot's name, followed by marks if it was disqualified or withdrawn, or changed its version."""
    marks = {
        "disqualified": row["disqualification"] is not None,
        "withdrawn": row["withdrawn"] and row["disqualification"] is None,
        "new version": row["version_changed"],
    }
    shown = [mark for mark, holds in marks.items() if holds]
    return str(row["name"]) + (f" ({', '.join(shown)})" if shown else "")
