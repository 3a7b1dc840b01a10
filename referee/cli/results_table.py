"""Show the results of local matches as a table."""

from collections.abc import Mapping, Sequence

from referee.cli.tables import TextTable
from referee.local.results import PlayerResult, tabulate


def results_table(
    results: Sequence[PlayerResult], title: str = "", more: Mapping[str, Sequence[str]] | None = None
) -> TextTable:
    """Return the results as a table, with ``more`` columns by heading."""
    headings, *rows = tabulate(results)
    columns = more or {}
    wide = [(*row, *cells) for row, *cells in zip(rows, *columns.values(), strict=True)]
    return TextTable((*headings, *columns), wide, left=("player",), title=title)
