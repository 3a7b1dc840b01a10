"""Cancel matches that have never started, in bulk, and close the deal groups in which nothing was played."""

from typing import Final

from sqlalchemy import ColumnElement, bindparam, exists, or_, select, update
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.db.leases import revocation_values
from referee.db.prepared import Prepared
from referee.matches.states import DealGroupState, MatchState
from referee.matches.tables import DealGroup, StoredMatch, is_unstarted


def cancel_unstarted(session: Session, which: ColumnElement[bool], reason: str) -> int:
    """Cancel the unstarted ones of the matches that fulfil ``which``, and return their number.

    A deal group of which nothing else was played has no log to complete and no result to count: it is closed too. Other
    groups that end with these matches, which shared their cards with them, are left to the scheduler: closing these
    takes the lock of the ledger, which the callers may not take after the rows that they have locked.
    """
    session.flush()  # the statements below bypass the session's unit of work
    # Lock in order of ids, to prevent deadlocks.
    query = select(StoredMatch.id, StoredMatch.group_id).where(which, is_unstarted()).order_by(StoredMatch.id)
    rows = session.execute(query.with_for_update(of=StoredMatch)).all()
    ended = {"reason": reason, "finished_at": current_time(session)}
    _CANCEL.execute_all(session, [{"of": row.id, **ended} for row in rows])
    _CLOSE_UNPLAYED.execute_all(session, [{"of": group_id} for group_id in sorted({row.group_id for row in rows})])
    return len(rows)


_MATCHES, _GROUPS = (model.__table__ for model in (StoredMatch, DealGroup))
_CANCEL: Final = Prepared(
    update(_MATCHES)
    .where(_MATCHES.c.id == bindparam("of"))
    .values(
        status=MatchState.CANCELLED,
        reason=bindparam("reason"),
        finished_at=bindparam("finished_at"),
        **revocation_values(StoredMatch),
    )
)
_CLOSE_UNPLAYED: Final = Prepared(
    update(_GROUPS)
    .where(
        _GROUPS.c.id == bindparam("of"),
        ~exists().where(
            _MATCHES.c.group_id == _GROUPS.c.id,
            or_(_MATCHES.c.status != MatchState.CANCELLED, _MATCHES.c.started_at.is_not(None)),
        ),
    )
    .values(state=DealGroupState.REVEALED)
)
