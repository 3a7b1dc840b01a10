"""Store the log of a match row by row while it is played, then as one gzip blob. ``match.log`` defines the rows."""

import gzip
import zlib
from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, bindparam, delete, select, update
from sqlalchemy.orm import Session

from referee.db.prepared import Prepared, insert_columns
from referee.errors import BadLog, LogDeleted, NotReady
from referee.match.log import digest
from referee.matches.states import DealGroupState
from referee.matches.tables import DealGroup, LogRow, MatchLog, SealedAnswer, StoredMatch

_LEVEL = 6


def log_lines(session: Session, match_id: str, *, start: int = 0, limit: int | None = None) -> list[bytes]:
    """Return at most ``limit`` rows from row ``start`` (counted from 0), as stored, without line ends.

    They include the reveal row once the deal group is closed. The rows are unmasked: pass them through
    ``match.log.visible`` before showing them to anyone. Raise ``LogDeleted`` if the log was deleted.
    """
    log = session.get(MatchLog, match_id)
    end = None if limit is None else start + limit
    if log is not None:
        lines = _decompress(log).splitlines()
        return ([*lines, log.reveal_line] if log.reveal_line else lines)[start:end]
    query = select(LogRow.line).where(LogRow.match_id == match_id, LogRow.row >= start).order_by(LogRow.row)
    return list(session.scalars(query if end is None else query.where(LogRow.row < end)))


def recorded_lines(session: Session, match_id: str) -> list[bytes]:
    """Return the rows of a match that is being played and therefore has no compressed log."""
    return [line for (line,) in _RECORDED.rows(session, {"of": match_id})]


def is_log_public(session: Session, match: StoredMatch) -> bool:
    """Return whether the whole log is public, which it is once its deal group is closed."""
    return (
        session.scalars(select(DealGroup.state).where(DealGroup.id == match.group_id)).one() == DealGroupState.REVEALED
    )


def has_public_log() -> ColumnElement[bool]:
    """Return the condition for matches whose deal group is closed, so that their logs are public."""
    return StoredMatch.group_id.in_(select(DealGroup.id).where(DealGroup.state == DealGroupState.REVEALED))


def read_log_file(session: Session, match: StoredMatch, *, gzipped: bool) -> bytes:
    """Return the whole log as JSON lines, compressed or plain.

    Raise ``NotReady`` before the match's deal group is closed or if the match has no rows. Raise ``LogDeleted`` if the
    log was deleted, ``BadLog`` if it is damaged.
    """
    log = session.get(MatchLog, match.id)
    if not is_log_public(session, match):
        raise NotReady("The log becomes public when the last match of its deal group is over.")
    if log is None:
        raise NotReady("The match ended before its first row, so it has no log.")
    # Gzip members may be concatenated, so the reveal row can be appended without compressing the rest again.
    reveal = b"" if log.reveal_line is None else log.reveal_line + b"\n"
    plain = _decompress(log)  # also for a gzipped file, to detect damage
    return log.gzip_log + _compress(reveal) if gzipped else plain + reveal


def find_digest(session: Session, match_id: str) -> str | None:
    """Return the digest of the last row of a log, also of one that was deleted, or None if the match has no log."""
    return session.scalar(select(MatchLog.digest).where(MatchLog.match_id == match_id))


def pack_log(session: Session, match_id: str, lines: Sequence[bytes]) -> str:
    """Replace the rows with a compressed log and delete sealed answers. Return the digest of the last row."""
    found = digest(lines[-1])
    packed = _compress(b"".join(line + b"\n" for line in lines))
    _DROP_ROWS.execute(session, {"of": match_id})
    _DROP_SEALED.execute(session, {"of": match_id})
    log = {"match_id": match_id, "gzip_log": packed, "reveal_line": None, "digest": found, "rows": len(lines)}
    _ADD_LOG.execute(session, log)
    return found


def pack_partial_log(session: Session, match_id: str) -> None:
    """Compress the rows of a match that ended early, if it has any."""
    lines = log_lines(session, match_id)
    if lines:
        pack_log(session, match_id, lines)


def last_line(session: Session, match_id: str) -> tuple[int, bytes] | None:
    """Return the number and the bytes of a compressed log's last row, or None if there is no compressed log."""
    log = session.get(MatchLog, match_id)
    return None if log is None else (log.rows - 1, _decompress(log).splitlines()[-1])


def append_reveal(session: Session, match_id: str, line: bytes) -> None:
    _REVEAL.execute(session, {"of": match_id, "line": line})


def _decompress(log: MatchLog) -> bytes:
    if not log.gzip_log:
        raise LogDeleted(
            f"The log of {log.match_id} was deleted after the time for which this service keeps logs of official "
            "ladders. The result and the ratings remain, and a copy of the log can still be verified: its last row has "
            f"the digest {log.digest}."
        )
    try:
        text = gzip.decompress(log.gzip_log)
    except (OSError, EOFError, zlib.error) as error:
        raise BadLog(0, f"the stored log cannot be decompressed: {error}") from error
    if digest(text.rstrip(b"\n").rpartition(b"\n")[2]) != log.digest:
        raise BadLog(log.rows - 1, "the last row of the stored log does not match its digest")
    return text


def _compress(text: bytes) -> bytes:
    return gzip.compress(text, _LEVEL, mtime=0)


_ROWS, _SEALED, _LOGS = (model.__table__ for model in (LogRow, SealedAnswer, MatchLog))
_RECORDED: Final = Prepared(select(_ROWS.c.line).where(_ROWS.c.match_id == bindparam("of")).order_by(_ROWS.c.row))
_DROP_ROWS: Final = Prepared(delete(_ROWS).where(_ROWS.c.match_id == bindparam("of")))
_DROP_SEALED: Final = Prepared(delete(_SEALED).where(_SEALED.c.match_id == bindparam("of")))
_ADD_LOG: Final = Prepared(insert_columns(_LOGS))
_REVEAL: Final = Prepared(
    update(_LOGS).where(_LOGS.c.match_id == bindparam("of")).values(reveal_line=bindparam("line"))
)
