"""Write tables as CSV for spreadsheets and as Markdown for texts."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from referee.csv_table import cell, write_table

SIGNS: Final = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")  # those that Markdown could interpret


def csv_text(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return the table as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe."""
    cells = [[cell(value) for value in row] for row in rows]
    return b"".join(write_table([[headings], cells])).decode()


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[Any]], *, left: Sequence[str] = ()) -> str:
    """Return the table in Markdown. Columns named in ``left`` are left-aligned, all others right-aligned."""
    rules = ["---" if heading in left else "---:" for heading in headings]
    lines = [list(map(escape_markdown, headings)), rules, *([_format_cell(value) for value in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def escape_markdown(text: str) -> str:
    """Return a text on one line that Markdown shows as it is."""
    return SIGNS.sub(r"\\\1", " ".join(text.split()))


def _format_cell(value: object) -> str:
    match value:
        case None:
            return "–"
        case float():
            return f"{value:.3f}".rstrip("0").rstrip(".")
    return escape_markdown(str(value))
