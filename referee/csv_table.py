"""Write tables as CSV (RFC 4180), piece by piece. What the rows contain is left to others."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from referee.timestamps import format_time

# Beginnings of text that spreadsheets treat as formulas, and the apostrophe put before them, so that different texts
# stay different: ratings depend on changes of version.
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
Cells = Sequence[Any]  # a row of a table


def write_table(pieces: Iterable[Iterable[Cells]]) -> Iterator[bytes]:
    """Yield each piece of the rows of a table as CSV."""
    buffer = io.StringIO(newline="")
    table = csv.writer(buffer)
    for rows in pieces:
        table.writerows(rows)
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()


def cell(value: object) -> object:
    """Return ``value`` for a cell. Put an apostrophe before a formula, so that no spreadsheet runs it."""
    match value:
        case str() if value.startswith(FORMULA):
            return f"'{value}"
        case bool():
            return str(value).lower()
        case datetime():
            return format_time(value)
    return value
