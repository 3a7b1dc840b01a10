"""Lay the cells of a table out for a terminal: aligned, and within its width without cutting any text.

Leave what the cells say to ``referee.cli.tables``.
"""

import os
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from rich.cells import cell_len, chop_cells

Cells = Sequence[str]
GAP = "  "
INDENT = "      "  # of the second and further lines of a row
NARROWEST = 20  # columns; a narrower terminal wraps what does not fit


def terminal_width() -> int | None:
    """Return the width of the terminal on standard output, or that of $COLUMNS, or None if there is neither.

    None means that lines may have any length, because a program reads them.
    """
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal():
        return max(NARROWEST, shutil.get_terminal_size().columns)
    return None


def layout(rows: Sequence[Cells], left: Collection[str], width: int | None) -> list[str]:
    """Return the lines of a table whose first row has the headings. Align columns named in ``left`` to the left.

    If the table is wider than ``width``, each row takes several lines, and a text that is longer than a line continues
    on the next.
    """
    columns = [[row[index] for row in rows] for index in range(len(rows[0]))]
    widths = [max(map(cell_len, cells)) for cells in columns]
    groups = list(_groups(widths, width))
    if len(groups) == 1 and (width is None or len(widths) > 1 or widths[0] <= width):
        return [_line(row, columns, widths, left, range(len(widths))) for row in rows]
    return [line for row in rows for line in _fold_row(row, columns, widths, left, groups, width or 0)]


def wrap(text: str, width: int | None) -> list[str]:
    """Return the lines of ``text``, broken at spaces where they are wider than ``width``, or inside a longer word."""
    return [part for line in text.split("\n") for part in _wrap_line(line, width)]


def _wrap_line(line: str, width: int | None) -> list[str]:
    if width is None or cell_len(line) <= width:
        return [line]
    parts, current = [], ""
    for word in line.split(" "):
        joined = f"{current} {word}" if current else word
        if cell_len(joined) > width:
            parts += [current] if current else []
            *full, joined = chop_cells(word, width) or [""]
            parts += full
        current = joined
    return [*parts, current] if current else parts


def _groups(widths: Sequence[int], width: int | None) -> Iterator[range]:
    """Yield the columns of each line of a row: as many as fit, at least one."""
    starts, used = [0], 0
    for index, column in enumerate(widths):
        used += column + (len(GAP) if index > starts[-1] else 0)
        room = None if width is None else width - (len(INDENT) if starts[-1] else 0)
        if room is not None and used > room and index > starts[-1]:
            starts.append(index)
            used = column
    yield from (range(start, end) for start, end in pairwise([*starts, len(widths)]))


def _fold_row(
    row: Cells,
    columns: Sequence[Cells],
    widths: Sequence[int],
    left: Collection[str],
    groups: Sequence[range],
    width: int,
) -> Iterator[str]:
    for group in groups:
        indent = INDENT if group.start else ""
        line = _line(row, columns, widths, left, group)
        if cell_len(line) > width - len(indent):  # a column that is wider than the line, alone in its group
            yield from (indent + part for part in wrap(row[group.start], width - len(indent)))
        elif line:
            yield indent + line


def _line(row: Cells, columns: Sequence[Cells], widths: Sequence[int], left: Collection[str], group: range) -> str:
    cells = (_align(row[index], widths[index], to_left=columns[index][0] in left) for index in group)
    return GAP.join(cells).rstrip()


def _align(cell: str, width: int, *, to_left: bool) -> str:
    space = " " * (width - cell_len(cell))
    return cell + space if to_left else space + cell
