"""Pack many logs into one file, and split such a file into its logs again.

A bundle has the rows of each log, as gzip members that follow each other, so that it can be cut and appended to between
two logs. After the rows of a log come its signature, if it has one, and a remark if its match does not count: a line
without a row number that says why. The same lines are also read from files that are plain, or packed as one member.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from referee.errors import RefereeError
from referee.match.canonical import Json, dumps
from referee.match.kinds import LogRemark
from referee.match.log import parse_row
from referee.match.signature import SIGNATURE_TYPE

LIMIT_BYTES: Final = 256 << 20  # maximum size of an unpacked log; the longest match of any game needs far less
MIN_BYTES: Final = 100  # counted per line at least; about the size of the shortest row, and of a line in memory
PIECE_BYTES: Final = 64 << 10
MAGIC: Final = b"\x1f\x8b"  # with which gzip begins

Piece = tuple[bytes, int | None]  # unpacked text, and the offset at which its member ends in the file, if it does


class Unreadable(RefereeError):
    """Signal that a file does not contain logs, or that it cannot be read any further."""


class CutOff(Unreadable):
    """Signal that a file ends in the middle of a gzip member."""


@dataclass(slots=True)
class StoredLog:
    """Hold a log of a file: the id of its match and its rows, followed by its signature if it has one.

    ``remark`` says why the match does not count. The file can be cut at the offset ``end`` without loss of this log; it
    is None if a gzip member does not end there. ``may_lack_end`` is set if the file could not be read any further.
    """

    match: str = ""
    lines: list[bytes] = field(default_factory=list)
    remark: str = ""
    end: int | None = None
    is_only_log: bool = False
    may_lack_end: bool = False


def pack_remark(match_id: str, remark: str, reason: str | None) -> bytes:
    """Return the gzip member that follows a log, or replaces a damaged one."""
    line = dumps({"match": match_id, "reason": reason, "type": remark})
    return gzip.compress(line + b"\n", mtime=0)


def split_logs(chunks: Iterable[bytes], file: str, *, start: int = 0) -> Iterator[StoredLog]:
    """Yield the logs of a file, each when the next one begins or the file ends.

    A log begins with its header, or with any line after the end of the previous log. ``start`` is the position of
    ``chunks`` in the file. Raise ``Unreadable`` if it cannot be read any further, after yielding the logs before that
    point. Errors of ``chunks`` pass through.
    """
    log, size, ended, signed = StoredLog(is_only_log=True), 0, False, False
    try:
        for line, end in _lines(_pieces(iter(chunks), file, start), file):
            if line is None:
                log.end = end
                continue
            row = _row(line)
            kind = row.get("type") if "row" not in row else None
            is_remark, is_signature = kind in set(LogRemark), kind == SIGNATURE_TYPE
            follows = not ended or (is_signature and not signed and not log.remark)
            begins = log.match != row.get("match") if is_remark else not follows or row.get("type") == "header"
            if begins and (log.lines or log.remark):
                log.is_only_log = False
                yield log
                log, size, ended, signed = StoredLog(), 0, False, False
            log.match, log.end = log.match or str(row.get("match", "")), None
            if is_remark:
                log.remark, ended = str(kind), True
                continue
            log.lines.append(line)
            signed = is_signature
            size, ended = size + max(len(line), MIN_BYTES), signed or row.get("type") == "reveal"
            if size > LIMIT_BYTES:
                raise _too_long(file)
    except RefereeError:
        if ended:
            log.may_lack_end = True
            yield log
        raise
    yield log


def _lines(pieces: Iterable[Piece], file: str) -> Iterator[tuple[bytes | None, int | None]]:
    """Yield lines without line ends, and None with the offset of each point at which the file can be cut."""
    rest = bytearray()
    for text, end in pieces:
        *lines, last = text.split(b"\n")
        for line in lines:
            yield bytes(rest) + line, None
            rest.clear()
        rest += last
        if len(rest) > LIMIT_BYTES:
            raise _too_long(file)
        if end is not None and not rest:
            yield None, end
    if rest:
        yield bytes(rest), None


def _pieces(chunks: Iterator[bytes], file: str, start: int) -> Iterator[Piece]:
    """Yield the text of a file in pieces, unpacked if it is gzip."""
    head = b""
    while len(head) < len(MAGIC) and (chunk := next(chunks, b"")):
        head += chunk
    if head.startswith(MAGIC):
        yield from _unpack(chain([head], chunks), file, start)
    else:
        yield from ((chunk, None) for chunk in chain([head], chunks))


def _unpack(chunks: Iterable[bytes], file: str, position: int) -> Iterator[Piece]:
    unpacker = None
    for chunk in chunks:
        text = b""
        while chunk or len(text) == PIECE_BYTES:  # after a full piece, there may be more without any input
            unpacker = unpacker or zlib.decompressobj(wbits=31)
            try:
                text = unpacker.decompress(chunk, PIECE_BYTES)
            except zlib.error as error:
                raise Unreadable(f"{file} cannot be unpacked completely: {error}") from error
            rest = unpacker.unused_data or unpacker.unconsumed_tail
            position, chunk = position + len(chunk) - len(rest), rest
            yield text, position if unpacker.eof else None
            if unpacker.eof:
                unpacker, text = None, b""
    if unpacker is not None:
        raise CutOff(f"{file} cannot be unpacked completely: it ends before the end of the compressed data")


def _row(line: bytes) -> Json:
    """Return the row in a line, or an empty object if the line is not valid JSON."""
    try:
        return parse_row(line)
    except (ValueError, RecursionError):
        return {}


def _too_long(file: str) -> Unreadable:
    return Unreadable(f"{file} contains a log of more than {LIMIT_BYTES >> 20} MiB. No match is that long.")
