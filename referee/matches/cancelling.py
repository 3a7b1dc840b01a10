"""Cancel matches that have never started, in bulk, and close the deal groups in which nothing was played."""

from typing import Final

from sqlalchemy import ColumnElement, bindparam, exists, insert, or_, select, update
from sqlalchemy.orm import Session

from referee.db.base import Id
from referee.db.engine import current_time
from referee.db.leases import revocation_values
from referee.db.prepared import Prepared
from referee.matches.queue.queued_seats import remove_from_queue
from referee.matches.states import DealGroupState, MatchState
from referee.matches.tables import DealGroup, GroupToClose, StoredMatch, is_unstarted


def cancel_unstarted(session: Session, which: ColumnElement[bool], reason: str) -> int:
    """Cancel the unstarted ones of the matches that fulfil ``which``, and return their number.

    A deal group of which nothing else was played has no log to complete and no result to count: it is closed too. Other
    groups may end with these matches, which shared their cards with them. They are listed for the scheduler: closing
    them takes the lock of the ledger, which the callers may not take after the rows that they have locked.
    """
    session.flush()  # the statements below bypass the session's unit of work
    # Lock in order of ids, to prevent deadlocks.
    query = select(StoredMatch.id, StoredMatch.group_id).where(which, is_unstarted()).order_by(StoredMatch.id)
    rows = session.execute(query.with_for_update(of=StoredMatch)).all()
    ended = {"reason": reason, "finished_at": current_time(session)}
    _CANCEL.execute_all(session, [{"of": row.id, **ended} for row in rows])
    remove_from_queue(session, [row.id for row in rows])
    of_groups = {row.group_id: row.id for row in rows}
    groups = [{"of": group_id, "match_id": match_id} for group_id, match_id in sorted(of_groups.items())]
    _CLOSE_UNPLAYED.execute_all(session, groups)
    _LIST_OTHERS.execute_all(session, groups)
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
_LIST_OTHERS: Final = Prepared(
    insert(GroupToClose.__table__).from_select(
        ["group_id", "match_id"],
        select(_GROUPS.c.id, bindparam("match_id", type_=Id)).where(
            _GROUPS.c.id == bindparam("of"), _GROUPS.c.state != DealGroupState.REVEALED
        ),
    )
)
