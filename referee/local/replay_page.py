"""Write a match as one HTML file with the viewer, which can be opened from disk."""

from collections.abc import Sequence
from pathlib import Path

from referee.errors import BadLog, RefereeError
from referee.match.canonical import Json
from referee.viewer import render_standalone
from referee.viewer.questions import questions


class NotWritten(RefereeError):
    """Signal that a file cannot be written, or that its content would not be a match log."""


def write_page(path: Path, lines: Sequence[bytes]) -> str:
    """Write the page, and return a text with its path, its size and any row that is not valid.

    The page of an invalid log shows the invalid row instead of questions. Raise ``NotWritten`` if the lines are not a
    match log or the file cannot be written.
    """
    asked: dict[int, Json] | None
    try:
        asked, remark = dict(questions(lines)), ""
    except BadLog as error:
        asked, remark = None, f"; without the questions, because row {error.row} is not valid: {error.reason}"
    try:
        page = render_standalone(lines, questions=asked).encode()
        path.write_bytes(page)
    except BadLog as error:
        raise NotWritten(f"This is not a match log: row {error.row}: {error.reason}.") from error
    except OSError as error:
        raise NotWritten(f"Cannot write the page to {path}: {error.strerror}.") from error
    return f"{path}: {len(page) / 1024:.0f} KiB{remark}"
