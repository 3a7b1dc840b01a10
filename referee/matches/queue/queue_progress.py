"""Read whether a due match could be claimed now, and when the last match began. What follows from it is elsewhere.

The cost does not depend on how many matches are due.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, func, literal_column, select
from sqlalchemy.orm import Session

from referee.db.engine import lease_now
from referee.db.leases import is_lease_expired
from referee.db.prepared import Prepared
from referee.matches.queue import claims, match_queue
from referee.matches.queue.capacity import ClaimUnit, count_playing
from referee.matches.queue.shares import Lane, Pool, has_sure_slot
from referee.matches.tables import Result, StoredMatch

RESULTS_READ: Final = 50
LOOKED_AT: Final = 8  # claimable matches

_M = StoredMatch.__table__.c
_R = Result.__table__.c


class QueueProgress(NamedTuple):
    """Describe the queue at a moment of the clock of leases.

    ``claimable`` is the id of a match that a runner with free slots would claim, or None: matches whose bots are full,
    that exceed their share, or that are not due are not claimable. ``last_begun`` is the time at which the last match
    began, as far as it is still played or among the last results. ``lanes`` are those of the first claimable matches,
    ``in_use`` has the number of matches in progress of each lane.
    """

    boot: str
    seconds: float
    claimable: str | None
    playing: int
    last_begun: datetime | None
    lanes: Sequence[Lane] = ()
    in_use: Sequence[tuple[Lane, int]] = ()

    def has_slot(self, *, runners: int, size: int) -> bool:
        """Return whether one of ``runners`` with ``size`` slots each surely has a slot for a claimable match."""
        return any(has_sure_slot(lane, self.in_use, runners=runners, size=size) for lane in self.lanes)


def load_progress(session: Session, slots: Pool) -> QueueProgress:
    """Return the progress of the queue. ``slots`` are those of one runner that plays nothing."""
    boot, seconds = lease_now(session)
    ((playing, begun),) = _RUNNING.rows(session, {"boot": boot, "seconds": seconds})
    moments = [begun, *(row[0] for row in _ENDED.rows(session))]
    last_begun = max((moment for moment in moments if moment is not None), default=None)
    units = _find_claimable(session, slots)
    return QueueProgress(
        boot,
        seconds,
        units[0].match_ids[0] if units else None,
        playing,
        last_begun,
        [unit.lane for unit in units],
        count_playing(session, boot, seconds) if units else (),
    )


def _find_claimable(session: Session, slots: Pool) -> list[ClaimUnit]:
    todo = claims.find_due_work(session)
    if todo.isolated:  # runners claim nothing else meanwhile
        return match_queue.find_isolated_matches(session, 1)
    return match_queue.find_matches(session, LOOKED_AT, slots=slots).units if todo.matches_due else []


_PLAYED: Final[Any] = (
    _M.status == literal_column("'running'"),
    ~is_lease_expired(_M, bindparam("boot"), bindparam("seconds")),
)
_COUNTED: Final[tuple[Any, ...]] = func.count(), func.max(_M.started_at)
_RUNNING: Final = Prepared(select(*_COUNTED).where(*_PLAYED))
_LATEST: Final = select(_R.match_id).order_by(_R.seq.desc()).limit(literal_column(str(RESULTS_READ))).subquery()
_ENDED: Final = Prepared(select(_M.started_at).join(_LATEST, _LATEST.c.match_id == _M.id))
