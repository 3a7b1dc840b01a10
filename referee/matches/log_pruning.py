"""Delete old logs of matches on official ladders, so that ladders that never end do not fill the disk.

Results, ledger entries and fault reports are kept, and so are the number of rows and the digest of each log, so that a
copy of it can still be compared. Logs of tournaments and of matches that somebody arranged are kept.
"""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Select, exists, select, update
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.matches.states import ENDED, DealGroupState
from referee.matches.tables import DealGroup, MatchLog, StoredMatch

BATCH: Final = 200  # logs deleted in one transaction


def has_expired(session: Session, keep_days: int) -> bool:
    """Return whether ``delete_expired`` would delete anything."""
    return bool(session.scalar(select(_select_expired(current_time(session), keep_days).exists())))


def delete_expired(session: Session, keep_days: int) -> int:
    """Delete up to ``BATCH`` logs of matches that ended more than ``keep_days`` ago, oldest first. Return their number.

    With 0 days, logs are kept for good.
    """
    now = current_time(session)
    oldest = _select_expired(now, keep_days).order_by(StoredMatch.finished_at).limit(BATCH)
    match_ids = list(session.scalars(oldest))
    session.execute(update(MatchLog).where(MatchLog.match_id.in_(match_ids)).values(gzip_log=b"", reveal_line=None))
    session.execute(update(StoredMatch).where(StoredMatch.id.in_(match_ids)).values(log_deleted_at=now))
    return len(match_ids)


def _select_expired(now: datetime, keep_days: int) -> Select[str]:
    """Return a query of the ids of matches whose logs have expired. It reads no matches whose logs are kept."""
    before = now - timedelta(days=keep_days) if keep_days else datetime.min.replace(tzinfo=now.tzinfo)
    query = select(StoredMatch.id).where(StoredMatch.ladder_id.is_not(None), StoredMatch.log_deleted_at.is_(None))
    return query.where(StoredMatch.finished_at < before, StoredMatch.status.in_(ENDED), _is_revealed())


def _is_revealed() -> ColumnElement[bool]:
    group = DealGroup.id == StoredMatch.group_id
    return exists().where(group, DealGroup.state == DealGroupState.REVEALED)
