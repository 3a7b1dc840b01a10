"""Many logs in one gzip file: told apart, and found again up to where a download broke off.

A log is one or several gzip members, the first of which begins with the log's row 0.
"""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from referee.errors import RefereeError
from referee.rows import parsed

LONGEST_LOG = 256 << 20  # bytes, unpacked; the longest match of any game is far below


class BadBundle(RefereeError):
    """A file or an answer that does not hold packed logs."""


@dataclass(slots=True)
class Log:
    """One match: its id, its rows as stored, its bytes as packed, and where these begin."""

    match: str
    start: int
    lines: list[bytes] = field(default_factory=list)
    packed: bytes = b""

    @property
    def end(self) -> int:
        return self.start + len(self.packed)

    @property
    def is_revealed(self) -> bool:
        """Nothing follows a reveal row."""
        return bool(parsed(self.lines[-1])["type"] == "reveal")


def logs_in(chunks: Iterable[bytes], start: int = 0) -> Iterator[Log]:
    """The logs, each once all of it is there; of the last that is known at the end of ``chunks``.

    Raises ``BadBundle`` where something else comes, and whatever ``chunks`` raises: then the last log is not given.
    """
    log: Log | None = None
    for packed, text in _members(chunks):
        lines = text.splitlines()
        match = _begins(lines)
        if match is not None:
            if log is not None:
                yield log
            log = Log(match, start if log is None else log.end)
        if log is None:
            raise BadBundle("the first log has no header")
        log.lines += lines
        log.packed += packed
    if log is not None:
        yield log


def _begins(lines: list[bytes]) -> str | None:
    """The match whose log begins with these rows."""
    if not lines:
        return None
    try:
        first = parsed(lines[0])
        return str(first["match"]) if first["row"] == 0 else None
    except (ValueError, KeyError, TypeError) as error:
        raise BadBundle(f"a log begins with no row of a log: {error}") from error


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
