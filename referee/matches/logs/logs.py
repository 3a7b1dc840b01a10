"""Store the log of a match row by row while it is played, then as one gzip blob. ``match.log`` defines the rows."""

import gzip
import zlib
from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, bindparam, delete, exists, select, update
from sqlalchemy.orm import Session

from referee.db.prepared import Prepared, insert_columns
from referee.errors import DamagedLog, LogDeleted, NotReady
from referee.match.log import digest, find_broken_link
from referee.matches.logs import chain
from referee.matches.states import DealGroupState
from referee.matches.tables import DealGroup, LogRow, MatchLog, SealedAnswer, StoredMatch
from referee.matches.usual_states import is_revealed

_LEVEL = 6


def log_lines(session: Session, match_id: str, *, start: int = 0, limit: int | None = None) -> list[bytes]:
    """Return at most ``limit`` rows from row ``start`` (counted from 0), as stored, without line ends.

    They include the reveal row once the deal group is closed. The rows are unmasked: pass them through
    ``match.log.visible`` before showing them to anyone. Raise ``LogDeleted`` if the log was deleted, and
    ``DamagedLog`` if it is not as it was stored.
    """
    log = session.get(MatchLog, match_id)
    end = None if limit is None else start + limit
    if log is not None:
        return _read_lines(session, log)[start:end]
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
    return exists().where(DealGroup.id == StoredMatch.group_id, is_revealed())


def read_log_file(session: Session, match: StoredMatch, *, gzipped: bool) -> bytes:
    """Return the whole log as JSON lines, compressed or plain, with its signature, if it has one, after the last row.

    Raise ``NotReady`` before the match's deal group is closed or if the match has no rows. Raise ``LogDeleted`` if the
    log was deleted, ``DamagedLog`` if it is not as it was stored.
    """
    log = session.get(MatchLog, match.id)
    if not is_log_public(session, match):
        raise NotReady("The log becomes public when the last match of its deal group is over.")
    if log is None:
        raise NotReady("The match ended before its first row, so it has no log.")
    lines = _read_lines(session, log)  # also for a gzipped file, to detect damage
    signature = chain.read_signature(session, match.id, lines)
    signed = b"" if signature is None else signature.line() + b"\n"
    if not gzipped:
        return b"".join(line + b"\n" for line in lines) + signed
    # Gzip members may be concatenated, so further lines can be appended without compressing the rest again.
    return log.gzip_log + (b"" if log.reveal_line is None else _compress(log.reveal_line + b"\n" + signed))


def find_digest(session: Session, match_id: str) -> str | None:
    """Return the digest of the last row of a log, also of one that was deleted, or None if the match has no log."""
    return session.scalar(select(MatchLog.digest).where(MatchLog.match_id == match_id))


def pack_log(session: Session, match_id: str, lines: Sequence[bytes]) -> str:
    """Replace the rows with a compressed log and delete sealed answers. Return the digest of the last row."""
    found = digest(lines[-1])
    packed = compress_rows(lines)
    _DROP_ROWS.execute(session, {"of": match_id})
    _DROP_SEALED.execute(session, {"of": match_id})
    log = {"match_id": match_id, "gzip_log": packed, "reveal_line": None, "digest": found, "rows": len(lines)}
    _ADD_LOG.execute(session, log)
    return found


def compress_rows(lines: Sequence[bytes]) -> bytes:
    """Return rows as the blob in which a log is stored."""
    return _compress(b"".join(line + b"\n" for line in lines))


def pack_partial_log(session: Session, match_id: str) -> None:
    """Compress the rows of a match that ended early, if it has any."""
    lines = log_lines(session, match_id)
    if lines:
        pack_log(session, match_id, lines)


def last_line(session: Session, match_id: str) -> tuple[int, bytes] | None:
    """Return the number and the bytes of a compressed log's last row, or None if there is no compressed log."""
    log = session.get(MatchLog, match_id)
    return None if log is None else (log.rows - 1, _decompress(session, log)[-1])


def append_reveal(session: Session, match_id: str, line: bytes) -> None:
    _REVEAL.execute(session, {"of": match_id, "line": line})


def _read_lines(session: Session, log: MatchLog) -> list[bytes]:
    """Return all rows. Compare each link, so that a log that was changed is not taken for the one that was stored."""
    lines = _decompress(session, log)
    lines = [*lines, log.reveal_line] if log.reveal_line else lines
    broken = find_broken_link(lines)
    if broken is not None:
        raise DamagedLog(broken, "this row does not follow from the row before it, so one of the two was changed")
    return lines


def _decompress(session: Session, log: MatchLog) -> list[bytes]:
    if not log.gzip_log:
        raise LogDeleted(_tombstone(session, log))
    try:
        text = gzip.decompress(log.gzip_log)
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedLog(0, f"it cannot be decompressed: {error}") from error
    lines = text.splitlines()
    if len(lines) != log.rows or digest(lines[-1]) != log.digest:
        raise DamagedLog(log.rows - 1, "the last row does not match the stored digest")
    return lines


def _tombstone(session: Session, log: MatchLog) -> str:
    """Return when and by which rule a log was deleted, and what remains of it."""
    query = select(StoredMatch.log_deleted_at, StoredMatch.log_deleted_rule).where(StoredMatch.id == log.match_id)
    deleted_at, rule = session.execute(query).one()
    when = "" if deleted_at is None else f" on {deleted_at:%Y-%m-%d}"
    why = "" if rule is None else f" ({rule})"
    return (
        f"The log of {log.match_id} was deleted{when} after the time for which this service keeps logs{why}. The "
        "result, the ratings and the signature remain, and a copy of the log can still be verified: its last row "
        f"before the reveal has the digest {log.digest}."
    )


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
