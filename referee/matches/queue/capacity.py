"""Count what is in progress, and from it what may still begin: requests of bots, friendlies of accounts.

``shares`` has the rules by which these places are shared; ``match_queue`` decides which matches get them.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, bindparam, func, literal_column, select
from sqlalchemy.orm import Session

from referee.bots.states import CheckState
from referee.bots.tables import Bot, Check
from referee.db.leases import is_lease_expired
from referee.db.prepared import Prepared, list_parameter
from referee.matches.queue.queued_seats import LANE
from referee.matches.queue.shares import Lane, Pool, call_shares, parse_lane
from referee.matches.tables import MatchSeat, StoredMatch

CALLS_PER_CHECK: Final = 4  # maximum number of concurrent calls of a check to its bot

_MATCHES, _SEATS, _BOTS = (model.__table__ for model in (StoredMatch, MatchSeat, Bot))
_M = _MATCHES.c


@dataclass(frozen=True, slots=True)
class ClaimUnit:
    """Hold matches that are claimed together or not at all: a single match, or the due matches of a duplicate group."""

    match_ids: tuple[str, ...]
    created_at: datetime
    lane: Lane


@dataclass(slots=True)
class ClaimCapacity:
    """Track what may still be claimed.

    ``calls`` has the requests of each bot in use, ``playing`` the number of matches in progress that each account
    arranged. ``slots`` limits the friendlies that a runner may begin; None means no limit.
    """

    calls: dict[str, Pool]
    playing: Counter[str]
    slots: Pool | None = None
    seats: dict[str, Counter[str]] = field(default_factory=dict)  # by match and bot, as far as loaded

    def has_slot(self, lane: Lane) -> bool:
        return self.slots is None or self.slots.count_free(lane) > 0

    def full_bots(self, lane: Lane) -> list[str]:
        """Return the bots that accept no further request for a match of this lane."""
        return [bot for bot, pool in self.calls.items() if pool.count_free(lane) <= 0]

    def has_call(self, bot: str) -> bool:
        """Return whether the bot accepts a further request of any kind."""
        return bot not in self.calls or self.calls[bot].total < self.calls[bot].size

    def load_seats(self, session: Session, match_ids: Sequence[str]) -> None:
        """Load the seats of these matches, and what their bots accept."""
        wanted = [match_id for match_id in match_ids if match_id not in self.seats]
        if not wanted:
            return
        self.seats |= {match_id: Counter() for match_id in wanted}
        for match_id, bot_id, size, owner_id in _SEATED.rows(session, {"matches": wanted}):
            self.seats[match_id][bot_id] += 1
            if bot_id not in self.calls:
                self.calls[bot_id] = Pool(size, call_shares(owner_id))

    def reserve(self, unit: ClaimUnit) -> bool:
        """Take the places of a unit if all are free. Return whether they are."""
        if not self.take_calls(unit):
            return False
        self.count(unit)
        return True

    def count(self, unit: ClaimUnit) -> None:
        """Count the matches of a unit as in progress."""
        self.playing[unit.lane.account] += len(unit.match_ids)
        if self.slots is not None:
            self.slots.take(unit.lane, len(unit.match_ids))

    def take_calls(self, unit: ClaimUnit, *, hold: bool = False, yields: Callable[[str], bool] | None = None) -> bool:
        """Take the requests of the bots of a unit if all are free and it may have a slot. Return whether that is so.

        A bot with more seats in a unit than it accepts requests needs all of its requests; the runner then asks its
        seats one after the other. With ``hold``, a unit that does not fit takes what is free: no other gets it first.
        Where a unit would take the last request of a bot, it must not if ``yields`` returns true for the bot.
        """
        wanted = self._calls_wanted(unit)
        pools = {bot: self.calls[bot] for bot in wanted}
        fits = self.has_slot(unit.lane) and all(
            pools[bot].count_free(unit.lane) >= min(seats, pools[bot].limit(unit.lane)) for bot, seats in wanted.items()
        )
        if fits and yields is not None:
            fits = not any(pools[bot].total + seats >= pools[bot].size and yields(bot) for bot, seats in wanted.items())
        if fits or hold:
            for bot, seats in wanted.items():
                pools[bot].take(unit.lane, seats)
        return fits

    def has_several_seats(self, unit: ClaimUnit) -> bool:
        """Return whether a bot has several seats in the unit."""
        return max(self._calls_wanted(unit).values()) > 1

    def _calls_wanted(self, unit: ClaimUnit) -> Counter[str]:
        first, *others = unit.match_ids
        return sum((self.seats[match_id] for match_id in others), self.seats[first])


def load_capacity(session: Session, boot: str, seconds: float, slots: Pool | None = None) -> ClaimCapacity:
    """Return the capacity now. ``slots`` has what one runner plays; each lane is counted over all runners instead."""
    lease = {"boot": boot, "seconds": seconds}
    calls: dict[str, Pool] = {}
    for bot_id, size, owner_id, lane, seats in _CALLS_USED.rows(session, lease):
        calls.setdefault(bot_id, Pool(size, call_shares(owner_id))).take(parse_lane(lane), seats)
    for bot_id, size, owner_id in _CHECKED.rows(session, lease):
        calls.setdefault(bot_id, Pool(size, call_shares(owner_id))).total += CALLS_PER_CHECK
    capacity = ClaimCapacity(calls, Counter(), slots and slots.copy())
    for lane, count in count_playing(session, boot, seconds):
        capacity.playing[lane.account] += count
        if capacity.slots is not None:
            capacity.slots.used[lane] = count
    return capacity


def count_playing(session: Session, boot: str, seconds: float) -> list[tuple[Lane, int]]:
    """Return the number of matches in progress of each lane, over all runners."""
    return [(parse_lane(lane), count) for lane, count in _PLAYING.rows(session, {"boot": boot, "seconds": seconds})]


def bots_being_checked(session: Session, boot: str, seconds: float) -> set[str]:
    """Return the ids of the bots that are being checked."""
    return {row[0] for row in _CHECKED.rows(session, {"boot": boot, "seconds": seconds})}


def calls_left(session: Session, boot: str, seconds: float) -> dict[str, int]:
    """Return the number of free concurrent calls of each bot that plays or is being checked.

    Each seat uses one call.
    """
    return {bot: pool.size - pool.total for bot, pool in load_capacity(session, boot, seconds).calls.items()}


# These queries are built only once, because building them takes longer than running them. They contain literals, not
# parameters: otherwise the planner does not see that a partial index covers the query.
_IS_PLAYED: Final = and_(
    _M.status == literal_column("'running'"), ~is_lease_expired(_M, bindparam("boot"), bindparam("seconds"))
)
_BY_LANE: Final[tuple[Any, ...]] = LANE, func.count()
_PLAYING: Final = Prepared(select(*_BY_LANE).where(_IS_PLAYED).group_by(LANE))
_CALLS_USED: Final = Prepared(
    select(_BOTS.c.id, _BOTS.c.max_concurrent_requests, _BOTS.c.owner_id, *_BY_LANE)
    .join(_SEATS, _SEATS.c.bot_id == _BOTS.c.id)
    .join(_MATCHES, _M.id == _SEATS.c.match_id)
    .where(_IS_PLAYED)
    .group_by(_BOTS.c.id, _BOTS.c.max_concurrent_requests, _BOTS.c.owner_id, LANE)
)
_CHECKED: Final = Prepared(
    select(_BOTS.c.id, _BOTS.c.max_concurrent_requests, _BOTS.c.owner_id)
    .join(Check, Check.bot_id == _BOTS.c.id)
    .where(
        Check.state == literal_column(f"'{CheckState.RUNNING}'"),
        ~is_lease_expired(Check, bindparam("boot"), bindparam("seconds")),
    )
)
_SEATED: Final = Prepared(
    select(_SEATS.c.match_id, _SEATS.c.bot_id, _BOTS.c.max_concurrent_requests, _BOTS.c.owner_id)
    .join(_BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .where(_SEATS.c.match_id.in_(list_parameter("matches")))
)
