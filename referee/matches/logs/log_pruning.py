"""Say whose logs may be deleted, and delete them. ``retention`` decides when.

Results, ledger entries and fault reports are kept, and so are the number of rows, the digest and the signature of each
log, so that a copy of it can still be compared.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, exists, select, update
from sqlalchemy.orm import Session, aliased

from referee.db.engine import count_changed_rows, current_time
from referee.matches.states import ENDED, DealGroupState, VoidState
from referee.matches.tables import DealGroup, MatchLog, MatchVoid, StoredMatch


def may_be_deleted() -> ColumnElement[bool]:
    """Return the condition for matches that have ended, whose log is kept and public, and whose result nobody disputes.

    A result is disputed while somebody proposes to void a match with the same cards.
    """
    group = DealGroup.id == StoredMatch.group_id
    is_revealed = exists().where(group, DealGroup.state == DealGroupState.REVEALED)
    return and_(
        StoredMatch.log_deleted_at.is_(None), StoredMatch.status.in_(ENDED), is_revealed, ~is_disputed(StoredMatch)
    )


def is_disputed(match: type[StoredMatch]) -> ColumnElement[bool]:
    """Return the condition for matches that somebody proposes to void, alone or with others that share the cards."""
    other = aliased(StoredMatch)
    proposed = select(MatchVoid.id).join(other, other.id == MatchVoid.match_id)
    return proposed.where(other.group_id == match.group_id, MatchVoid.state == VoidState.PROPOSED).exists()


def delete_logs(session: Session, match_ids: Sequence[str], rule: str) -> int:
    """Delete the logs of these matches, and store when and by which ``rule``. Return their number."""
    session.execute(update(MatchLog).where(MatchLog.match_id.in_(match_ids)).values(gzip_log=b"", reveal_line=None))
    deleted = {"log_deleted_at": current_time(session), "log_deleted_rule": rule[:128]}
    return count_changed_rows(session, update(StoredMatch).where(StoredMatch.id.in_(match_ids)).values(deleted))
