"""Keep the list of the bots of due matches. Code that makes matches due, or ends that, calls this module.

``match_queue`` reads the list and checks each match it finds there, so an excess row costs time only. A match that is
missing in the list is not found: the scheduler calls ``repair_queue`` when it starts and when ``is_oldest_missing``,
since a match that nobody finds is one day the oldest.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import String, bindparam, case, delete, exists, func, insert, literal_column, select, union
from sqlalchemy.orm import Session

from referee.db.engine import take_advisory_lock
from referee.db.prepared import Prepared
from referee.matches.queue.shares import Lane
from referee.matches.states import MatchKind, MatchState
from referee.matches.tables import MatchSeat, QueuedSeat, StoredMatch, friendly

_MATCHES, _SEATS, _QUEUED = (model.__table__ for model in (StoredMatch, MatchSeat, QueuedSeat))
_M = _MATCHES.c
_KINDS: Final = {kind: literal_column(f"'{kind}:'", String) for kind in MatchKind}
# With literals, not parameters, so that a query can also group by it on PostgreSQL.
LANE: Final = case((friendly(_M), _KINDS[MatchKind.FRIENDLY]), else_=_KINDS[MatchKind.ORGANISED]).concat(
    func.coalesce(_M.created_by, literal_column("''", String))
)
BATCH_SIZE: Final = 500  # matches listed by one statement


def lane_of(match: Any) -> Lane:
    """Return the lane of a match, given an object with its columns. ``LANE`` is the same in SQL."""
    is_friendly = match.tournament_id is None and match.ladder_id is None and not match.rated
    return Lane(MatchKind.FRIENDLY if is_friendly else MatchKind.ORGANISED, match.created_by or "")


def add_to_queue(session: Session, match_ids: Sequence[str]) -> None:
    """List those of these matches that are due. None of them may be listed yet."""
    session.flush()
    for start in range(0, len(match_ids), BATCH_SIZE):
        session.connection().execute(_ADD, {"wanted": match_ids[start : start + BATCH_SIZE]})


def remove_from_queue(session: Session, match_ids: Sequence[str]) -> None:
    """Remove matches that are no longer due."""
    _REMOVE.execute_all(session, [{"of": match_id} for match_id in match_ids])


def refresh_queue(session: Session, match_ids: Sequence[str]) -> None:
    """Make the list agree with the states and seats of these matches."""
    remove_from_queue(session, match_ids)
    add_to_queue(session, match_ids)


def is_oldest_missing(session: Session) -> bool:
    """Return whether the oldest due match is missing in the list."""
    return bool(_OLDEST_MISSING.rows(session))


def repair_queue(session: Session) -> None:
    """Make the list agree with all matches, for example after an earlier version has written to the database."""
    take_advisory_lock(session, "claims")  # so that claims change none of these matches meanwhile
    missing = select(_M.id).where(_M.status == MatchState.DUE, ~exists().where(_QUEUED.c.match_id == _M.id))
    excess = select(_M.id).join(_QUEUED, _QUEUED.c.match_id == _M.id).where(_M.status != MatchState.DUE)
    refresh_queue(session, session.scalars(union(missing, excess)).all())


_COPIED: Final = (_M.created_at, _M.tournament_round, _M.table_no, _M.leg)
_DUE_SEATS: Final = (
    select(_M.id, _SEATS.c.bot_id, func.min(_SEATS.c.seat), LANE, *_COPIED)
    .join(_SEATS, _SEATS.c.match_id == _M.id)
    .where(_M.id.in_(bindparam("wanted", expanding=True)), _M.status == MatchState.DUE)
    .group_by(_M.id, _SEATS.c.bot_id)
)
_ADD: Final = insert(_QUEUED).from_select(
    ["match_id", "bot_id", "seat", "lane", *(column.name for column in _COPIED)], _DUE_SEATS
)
_REMOVE: Final = Prepared(delete(_QUEUED).where(_QUEUED.c.match_id == bindparam("of")))
_OLDEST: Final = (
    select(_M.id).where(_M.status == literal_column("'due'")).order_by(_M.created_at, _M.id).limit(literal_column("1"))
).subquery()
_OLDEST_MISSING: Final = Prepared(select(_OLDEST.c.id).where(~exists().where(_QUEUED.c.match_id == _OLDEST.c.id)))
