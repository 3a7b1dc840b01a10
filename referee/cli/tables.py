"""Tables of tournaments and ladders for the terminal, from what the API shows or the record holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from referee.match.canonical import Json

Cells = Sequence[str]


@dataclass(frozen=True, slots=True)
class Standings:
    """A table with its title: text to the left, numbers to the right."""

    title: str
    columns: Cells
    rows: Sequence[Cells]
    words: frozenset[str] = frozenset({"bot"})

    def rich(self) -> Table:
        table = Table(title=self.title, title_justify="left", title_style="bold", expand=False)
        for column in self.columns:
            table.add_column(column, justify="left" if column in self.words else "right", no_wrap=True)
        for row in self.rows:
            table.add_row(*row)
        return table

    def plain(self) -> str:
        return f"{self.title}\n{columns([self.columns, *self.rows], self.words)}"


def columns(rows: Sequence[Cells], words: frozenset[str]) -> str:
    """Rows under one another, the first being the titles; columns named in ``words`` keep to the left."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    left = [title in words for title in rows[0]]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if to_left else cell.rjust(width)
            for cell, width, to_left in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in rows
    )


def tournament(title: str, rows: Sequence[Json], ratings: dict[str, float] | None = None) -> Standings:
    """A tournament's table from the rows the API gives, with ratings by bot where they are known."""
    names = ["place", "bot", "matches", "points", "wins", "returns"] + (["rating"] if ratings is not None else [])
    lines = []
    for row in rows:
        line = [str(row["place"]), row["name"], str(row["matches"])]
        line += [f"{row['points']:.2f}", str(row["wins"]), str(row["returns"])]
        if ratings is not None:
            line.append(f"{ratings[row['bot']]:.1f}" if row["bot"] in ratings else "-")
        lines.append(line)
    return Standings(title, names, lines)


def ladder(title: str, rows: Sequence[Json]) -> Standings:
    """A ladder from the rows the API gives."""
    lines = [[str(row["rank"]), row["name"], f"{row['rating']:.1f}", str(row["games"])] for row in rows]
    return Standings(title, ["rank", "bot", "rating", "matches"], lines)


def ladder_title(found: Json) -> str:
    """What a ladder is for: its game, its seats, and the options that are not the usual ones."""
    return f"{found['game']}, {found['seats']} seats ({found['id']})"
