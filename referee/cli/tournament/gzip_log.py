"""Many logs in one gzip file: told apart, and found again up to where a download broke off.

A log is one or several gzip members, the first of which begins with the log's row 0. One more may follow, a line that
says why the match does not count.
"""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from referee.errors import RefereeError
from referee.match.canonical import Json
from referee.match.log import parse_row

LONGEST_LOG = 256 << 20  # bytes, unpacked; the longest match of any game is far below


class BadBundle(RefereeError):
    """A file or an answer that does not hold packed logs."""


@dataclass(slots=True)
class DownloadedLog:
    """One match: its id, its rows as stored, its bytes as packed, and where these begin. ``remark`` says why it does
    not count: ``void``, ``cancelled`` (it breaks off) or ``damaged`` (there is none)."""

    match: str
    start: int
    lines: list[bytes] = field(default_factory=list)
    packed: bytes = b""
    remark: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.packed)


def logs_in(chunks: Iterable[bytes], start: int = 0) -> Iterator[DownloadedLog]:
    """The logs, each once the next one begins, the last at the end of ``chunks``.

    Raises ``BadBundle`` where something else comes, and whatever ``chunks`` raises: then the last log is not given.
    """
    log: DownloadedLog | None = None
    for packed, text in _members(chunks):
        lines = text.splitlines()
        first = _row(lines[0]) if lines else {}
        remark = "" if "row" in first else str(first.get("type", ""))
        if first.get("row") == 0 or (remark and (log is None or log.match != first["match"])):
            if log is not None:
                yield log
            log = DownloadedLog(str(first["match"]), start if log is None else log.end)
        if log is None:
            raise BadBundle("the first log has no header")
        log.lines += [] if remark else lines
        log.packed += packed
        log.remark = log.remark or remark
    if log is not None:
        yield log


def _row(line: bytes) -> Json:
    """A row of a log, or a remark on one; both say which match a log begins with."""
    try:
        row: Json = parse_row(line)
        if not isinstance(row, dict) or (("row" not in row or row["row"] == 0) and "match" not in row):
            raise ValueError("it names no match")
    except ValueError as error:
        raise BadBundle(f"a log begins with no row of a log: {error}") from error
    return row


def _members(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Each gzip member, packed and unpacked; an unfinished one at the end is left out."""
    unpacker, packed, text = zlib.decompressobj(wbits=31), bytearray(), bytearray()
    for chunk in chunks:
        while chunk:
            try:
                text += unpacker.decompress(chunk, LONGEST_LOG - len(text) + 1)
            except zlib.error as error:
                raise BadBundle(f"this is not packed as logs are: {error}") from error
            if len(text) > LONGEST_LOG:
                raise BadBundle(f"a log is longer than {LONGEST_LOG >> 20} MiB, which no match is")
            rest = unpacker.unused_data
            packed += chunk[: len(chunk) - len(rest)]
            chunk = rest
            if unpacker.eof:
                yield bytes(packed), bytes(text)
                unpacker, packed, text = zlib.decompressobj(wbits=31), bytearray(), bytearray()
