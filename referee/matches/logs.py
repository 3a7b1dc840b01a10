"""Stored logs: rows while a match is played, one packed blob when it is over. Reading them is ``match.log``'s."""

import gzip
import zlib
from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.orm import Session

from referee.errors import BadLog, NotReady
from referee.match.log import digest
from referee.matches.tables import DealGroup, LogRow, Match, MatchLog, SealedAnswer

_LEVEL = 6


def log_lines(session: Session, match_id: str, *, start: int = 0, limit: int | None = None) -> list[bytes]:
    """The rows as stored, without line ends: of a running match, or of one that is over with its reveal row.

    For ourselves: what others may read of a row before the deal group is over, ``match.log.visible`` decides.
    """
    log = session.get(MatchLog, match_id)
    end = None if limit is None else start + limit
    if log is not None:
        lines = _decompress(log).splitlines()
        return ([*lines, log.reveal_line] if log.reveal_line else lines)[start:end]
    query = select(LogRow.line).where(LogRow.match_id == match_id, LogRow.row >= start).order_by(LogRow.row)
    return list(session.scalars(query if end is None else query.where(LogRow.row < end)))


def recorded_lines(session: Session, match_id: str) -> list[bytes]:
    """The rows of a match that is being played, and so has no packed log."""
    return list(session.connection().execute(_RECORDED, {"of": match_id}).scalars())


def is_open(session: Session, match: Match) -> bool:
    """Whether everybody may read the whole log: its deal group is over."""
    return session.scalars(select(DealGroup.state).where(DealGroup.id == match.group_id)).one() == "over"


def download(session: Session, match: Match, *, gzipped: bool) -> bytes:
    """The whole log as JSON lines, packed or plain.

    Raises ``NotReady`` before its deal group is over, and ``BadLog`` for one that was damaged in the record.
    """
    log = session.get(MatchLog, match.id)
    if not is_open(session, match):
        raise NotReady("the log opens when the last match of its deal group is over")
    if log is None:
        raise NotReady("the match ended before its first row")
    # Packed members may follow one another, so the reveal needs no packing anew of what is there.
    reveal = b"" if log.reveal_line is None else log.reveal_line + b"\n"
    plain = _decompress(log)  # read in any case, so that a damaged log is not served as a good one
    return log.gzip_log + _compress(reveal) if gzipped else plain + reveal


def pack(session: Session, match_id: str, lines: Sequence[bytes]) -> str:
    """Puts the finished log in place of its rows and drops sealed answers; gives its digest."""
    found = digest(lines[-1])
    packed = _compress(b"".join(line + b"\n" for line in lines))
    connection = session.connection()
    connection.execute(_DROP_ROWS, {"of": match_id})
    connection.execute(_DROP_SEALED, {"of": match_id})
    connection.execute(_ADD_LOG, {"match_id": match_id, "gzip_log": packed, "digest": found, "rows": len(lines)})
    return found


def pack_what_there_is(session: Session, match_id: str) -> None:
    """Packs the rows of a match that ended early; one without rows keeps no log."""
    lines = log_lines(session, match_id)
    if lines:
        pack(session, match_id, lines)


def last_line(session: Session, match_id: str) -> tuple[int, bytes] | None:
    """Number and bytes of the last row of a packed log; None where there is no log."""
    log = session.get(MatchLog, match_id)
    return None if log is None else (log.rows - 1, _decompress(log).splitlines()[-1])


def append_reveal(session: Session, match_id: str, line: bytes) -> None:
    session.connection().execute(_REVEAL, {"of": match_id, "line": line})


def _decompress(log: MatchLog) -> bytes:
    try:
        text = gzip.decompress(log.gzip_log)
    except (OSError, EOFError, zlib.error) as error:
        raise BadLog(0, f"the stored log cannot be unpacked: {error}") from error
    if digest(text.rstrip(b"\n").rpartition(b"\n")[2]) != log.digest:
        raise BadLog(log.rows - 1, "the last row of the stored log is not the one that was packed")
    return text


def _compress(text: bytes) -> bytes:
    return gzip.compress(text, _LEVEL, mtime=0)


# Built once, and on the tables themselves: they run at the end of every match.
_ROWS, _SEALED, _LOGS = (model.__table__ for model in (LogRow, SealedAnswer, MatchLog))
_RECORDED: Final = select(_ROWS.c.line).where(_ROWS.c.match_id == bindparam("of")).order_by(_ROWS.c.row)
_DROP_ROWS: Final = delete(_ROWS).where(_ROWS.c.match_id == bindparam("of"))
_DROP_SEALED: Final = delete(_SEALED).where(_SEALED.c.match_id == bindparam("of"))
_ADD_LOG: Final = insert(_LOGS)
_REVEAL: Final = update(_LOGS).where(_LOGS.c.match_id == bindparam("of")).values(reveal_line=bindparam("line"))
