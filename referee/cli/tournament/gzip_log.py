"""Split a gzip file with many logs into logs, up to the point where a download was interrupted.

A log consists of one or more gzip members, the first of which begins with row 0 of the log. A further member may
contain a line that says why the match does not count.
"""

import zlib
from collections.abc import Iterable, Iterator

from referee.cli.log_files import LIMIT_BYTES, StoredLog
from referee.errors import RefereeError
from referee.match.canonical import Json
from referee.match.log import parse_row


class BadBundle(RefereeError):
    """Signal that a file or a response does not contain gzipped logs."""


def split_logs(chunks: Iterable[bytes], start: int = 0) -> Iterator[StoredLog]:
    """Yield each log when the next one begins, and the last one at the end of ``chunks``.

    ``start`` is the position of ``chunks`` in the file. Raise ``BadBundle`` for anything that is not a gzipped log.
    Errors of ``chunks`` pass through. The last log before an error is not yielded.
    """
    log: StoredLog | None = None
    for packed, text in _members(chunks):
        lines = text.splitlines()
        first = _row(lines[0]) if lines else {}
        remark = "" if "row" in first else str(first.get("type", ""))
        if first.get("row") == 0 or (remark and (log is None or log.match != first["match"])):
            if log is not None:
                yield log
            log = StoredLog(str(first["match"]), start=start if log is None else log.end)
        if log is None:
            raise BadBundle("The first log has no header.")
        log.lines += [] if remark else lines
        log.packed += packed
        log.remark = log.remark or remark
    if log is not None:
        yield log


def _row(line: bytes) -> Json:
    """Return the row in a line.

    Raise ``BadBundle`` if the row is not valid, or if it is a header or remark without a match id.
    """
    try:
        row: Json = parse_row(line)
        if not isinstance(row, dict) or (("row" not in row or row["row"] == 0) and "match" not in row):
            raise ValueError("it has no match id")
    except ValueError as error:
        raise BadBundle(f"A log does not begin with a valid row: {error}") from error
    return row


def _members(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield each gzip member as a pair of packed and unpacked bytes, except an unfinished member at the end.

    Raise ``BadBundle`` if the data is not gzip or a member is too long.
    """
    unpacker, packed, text = zlib.decompressobj(wbits=31), bytearray(), bytearray()
    for chunk in chunks:
        while chunk:
            try:
                text += unpacker.decompress(chunk, LIMIT_BYTES - len(text) + 1)
            except zlib.error as error:
                raise BadBundle(f"This is not a gzip file of logs: {error}") from error
            if len(text) > LIMIT_BYTES:
                raise BadBundle(f"A log is longer than {LIMIT_BYTES >> 20} MiB. No match is that long.")
            rest = unpacker.unused_data
            packed += chunk[: len(chunk) - len(rest)]
            chunk = rest
            if unpacker.eof:
                yield bytes(packed), bytes(text)
                unpacker, packed, text = zlib.decompressobj(wbits=31), bytearray(), bytearray()
