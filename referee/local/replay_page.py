"""Writing a match as one page that opens from disk. How it looks is the viewer's."""

from collections.abc import Sequence
from pathlib import Path

from referee.errors import BadLog, RefereeError
from referee.match.canonical import Json
from referee.viewer import standalone
from referee.viewer.questions import questions


class NotWritten(RefereeError):
    """Raised if a file cannot be written, or if there is nothing to write."""


def write(path: Path, lines: Sequence[bytes]) -> str:
    """Writes the page and says what was written. A log that does not hold is shown all the same, without the
    questions: the page itself tells which row is wrong."""
    asked: dict[int, Json] | None
    try:
        asked, without = dict(questions(lines)), ""
    except BadLog as error:
        asked, without = None, f"; without what bots were asked, as row {error.row} does not hold: {error.reason}"
    try:
        page = standalone(lines, questions=asked).encode()
        path.write_bytes(page)
    except BadLog as error:
        raise NotWritten(f"this is not a match log: row {error.row}: {error.reason}") from error
    except OSError as error:
        raise NotWritten(f"cannot write the page to {path}: {error.strerror}") from error
    return f"{path}: {len(page) / 1024:.0f} KiB{without}"
