"""Split a gzip file with many logs into logs, up to the point where a download was interrupted.

A log is one or several gzip members, the first of which begins with row 0 of the log. Another member may follow: a line
that says why the match does not count.
"""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from referee.errors import RefereeError
from referee.match.canonical import Json
from referee.match.log import parse_row

MAX_LOG_BYTES = 256 << 20  # bytes, unpacked; far more than the longest match of any game


class BadBundle(RefereeError):
    """Raised for a file or a response that does not contain packed logs."""


@dataclass(slots=True)
class DownloadedLog:
    """The log of one match: its id, rows and packed bytes, and the offset of these bytes in the file.

    ``remark`` says why the match does not count: ``void``, ``cancelled`` (the log is incomplete) or ``damaged`` (there
    is no log).
    """

    match: str
    start: int
    lines: list[bytes] = field(default_factory=list)
    packed: bytes = b""
    remark: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.packed)


def split_logs(chunks: Iterable[bytes], start: int = 0) -> Iterator[DownloadedLog]:
    """Yield each log when the next one begins, and the last one at the end of ``chunks``.

    Raise ``BadBundle`` for anything that is not a packed log, and any error of ``chunks``; the log before is then not
    yielded.
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
    """Return the first row of a log, or the remark on a log; both have the id of the match."""
    try:
        row: Json = parse_row(line)
        if not isinstance(row, dict) or (("row" not in row or row["row"] == 0) and "match" not in row):
            raise ValueError("it has no match id")
    except ValueError as error:
        raise BadBundle(f"a log does not begin with a valid row: {error}") from error
    return row


def _members(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield each gzip member, packed and unpacked, except an unfinished one at the end."""
    unpacker, packed, text = zlib.decompressobj(wbits=31), bytearray(), bytearray()
    for chunk in chunks:
        while chunk:
            try:
                text += unpacker.decompress(chunk, MAX_LOG_BYTES - len(text) + 1)
            except zlib.error as error:
                raise BadBundle(f"this is not a gzip file of logs: {error}") from error
            if len(text) > MAX_LOG_BYTES:
                raise BadBundle(f"a log is longer than {MAX_LOG_BYTES >> 20} MiB; no match is that long")
            rest = unpacker.unused_data
            packed += chunk[: len(chunk) - len(rest)]
            chunk = rest
            if unpacker.eof:
                yield bytes(packed), bytes(text)
                unpacker, packed, text = zlib.decompressobj(wbits=31), bytearray(), bytearray()
