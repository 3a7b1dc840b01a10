"""Stored logs: rows while a match is played, one packed blob when it is over. Reading them is ``matchlog``'s."""

import gzip
import zlib
from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from referee.errors import BadLog, NotReady
from referee.rows import digest
from referee.store.schema import Group, LogRow, Match, MatchLog, SealedAnswer

_LEVEL = 6


def log_lines(session: Session, match_id: str, *, start: int = 0, limit: int | None = None) -> list[bytes]:
    """The rows as stored, without line ends: of a running match, or of one that is over with its reveal row.

    For ourselves: what others may read of a row before the deal group is over, ``matchlog.visible`` decides.
    """
    log = session.get(MatchLog, match_id)
    end = None if limit is None else start + limit
    if log is not None:
        lines = _unpacked(log).splitlines()
        return ([*lines, log.reveal_line] if log.reveal_line else lines)[start:end]
    query = select(LogRow.line).where(LogRow.match_id == match_id, LogRow.row >= start).order_by(LogRow.row)
    return list(session.scalars(query if end is None else query.where(LogRow.row < end)))


def is_open(session: Session, match: Match) -> bool:
    """Whether everybody may read the whole log: its deal group is over."""
    return session.scalars(select(Group.state).where(Group.id == match.group_id)).one() == "over"


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
    plain = _unpacked(log)  # read in any case, so that a damaged log is not served as a good one
    return log.packed + _packed(reveal) if gzipped else plain + reveal


def pack(session: Session, match_id: str, lines: Sequence[bytes]) -> str:
    """Puts the finished log in place of its rows and drops sealed answers; gives its digest."""
    found = digest(lines[-1])
    packed = _packed(b"".join(line + b"\n" for line in lines))
    session.execute(delete(LogRow).where(LogRow.match_id == match_id))
    session.execute(delete(SealedAnswer).where(SealedAnswer.match_id == match_id))
    session.add(MatchLog(match_id=match_id, packed=packed, digest=found, rows=len(lines)))
    session.flush()
    return found


def pack_what_there_is(session: Session, match_id: str) -> None:
    """Packs the rows of a match that ended early; one without rows keeps no log."""
    lines = log_lines(session, match_id)
    if lines:
        pack(session, match_id, lines)


def last_line(session: Session, match_id: str) -> tuple[int, bytes] | None:
    """Number and bytes of the last row of a packed log; None where there is no log."""
    log = session.get(MatchLog, match_id)
    return None if log is None else (log.rows - 1, _unpacked(log).splitlines()[-1])


def append_reveal(session: Session, match_id: str, line: bytes) -> None:
    session.get_one(MatchLog, match_id).reveal_line = line


def _unpacked(log: MatchLog) -> bytes:
    try:
        text = gzip.decompress(log.packed)
    except (OSError, EOFError, zlib.error) as error:
        raise BadLog(0, f"the stored log cannot be unpacked: {error}") from error
    if digest(text.rstrip(b"\n").rpartition(b"\n")[2]) != log.digest:
        raise BadLog(log.rows - 1, "the last row of the stored log is not the one that was packed")
    return text


def _packed(text: bytes) -> bytes:
    return gzip.compress(text, _LEVEL, mtime=0)
