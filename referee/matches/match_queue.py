"""Select the matches to play next: accounts that arranged matches take turns, and each is served its oldest match.

Nothing is written here; ``claims`` claims the selected matches.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, exists, func, literal_column, select
from sqlalchemy.orm import Session

from referee.bots.states import CheckState
from referee.bots.tables import Bot, Check
from referee.db.leases import is_lease_expired
from referee.matches.states import DealSharing
from referee.matches.tables import CLAIM_ORDER, DealGroup, MatchSeat, StoredMatch, friendly

LOST_BEFORE_ISOLATED: Final = 2
CALLS_PER_CHECK: Final = 4  # maximum number of concurrent calls of a check to its bot
WINDOWS: Final = (100, 2_000, 20_000)  # how many of a creator's oldest matches to search, until some are found
MAX_MATCHES_SEARCHED: Final = 400  # matches of a creator to search for those whose bots have free calls

# These queries do not use the ORM: runners query several times a second, and the ORM would cause most of the cost.
_MATCHES, _SEATS, _BOTS, _GROUPS = (model.__table__ for model in (StoredMatch, MatchSeat, Bot, DealGroup))
_M = _MATCHES.c
# These are literals, not parameters: otherwise the planner does not see that a partial index covers the query.
DUE: Final[ColumnElement[bool]] = _M.status == literal_column("'due'")
LOST_TWICE: Final[ColumnElement[bool]] = _M.lost_claims > literal_column("1")
_AGE = [_M[name] for name in CLAIM_ORDER]
_FRIENDLY: Final = friendly(_M)


@dataclass(frozen=True, slots=True)
class ClaimUnit:
    """Hold matches that are claimed together or not at all: a single match, or the due matches of a duplicate group.

    ``friendly_of`` is the account that arranged the match, if it is a friendly.
    """

    match_ids: tuple[str, ...]
    created_at: datetime
    friendly_of: str | None = None


@dataclass(slots=True)
class FreeCalls:
    """Track how many concurrent calls each bot can still accept.

    Both mappings are keyed by bot id: ``most`` has the limits that bots declared, and ``left`` has what remains of
    them, for bots that have calls reserved.
    """

    left: dict[str, int]
    most: dict[str, int] = field(default_factory=dict)

    def full_bots(self) -> list[str]:
        return [bot for bot, calls in self.left.items() if calls <= 0]

    def reserve(self, seats_by_bot: Mapping[str, int]) -> bool:
        """Reserve one call per seat, if enough are free; ``seats_by_bot`` is keyed by bot id.

        Return whether they were free. A bot that has more seats in a unit than it accepts calls must have all its calls
        free; the runner then asks its seats one after the other. If a bot with several seats has too few free calls,
        they stay reserved for it, so that matches with single seats cannot keep overtaking it.
        """
        fits = all(self._calls_left(bot) >= min(seats, self.most[bot]) for bot, seats in seats_by_bot.items())
        if fits or (max(seats_by_bot.values()) > 1 and all(self._calls_left(bot) > 0 for bot in seats_by_bot)):
            self.left |= {bot: self._calls_left(bot) - seats for bot, seats in seats_by_bot.items()}
        return fits

    def _calls_left(self, bot: str) -> int:
        return self.left.get(bot, self.most[bot])


@dataclass(slots=True)
class ClaimCapacity:
    """Track the remaining capacity for claims: the free calls of bots, and the friendlies of accounts.

    ``playing`` has, for each account, the number of matches in progress that it arranged and the number of friendlies
    among them. ``friendlies`` limits the friendlies in progress per account; None means no limit.
    """

    calls: FreeCalls
    playing: dict[str | None, tuple[int, int]]
    friendlies: int | None

    def has_friendly(self, account: str | None) -> bool:
        """Return whether another friendly of this account may start."""
        return self.friendlies is None or account is None or self._count_friendlies(account) < self.friendlies

    def accounts_at_limit(self) -> list[str]:
        """Return the accounts that have reached the limit of friendlies in progress."""
        return [account for account in self.playing if account is not None and not self.has_friendly(account)]

    def reserve(self, unit: ClaimUnit, seats: Mapping[str, Counter[str]]) -> bool:
        """Reserve room for the unit if its bots and the limit of its account allow it. Return whether they do."""
        account = unit.friendly_of
        if not self.has_friendly(account) or not self.calls.reserve(_calls_needed(unit, seats)):
            return False
        if account is not None:
            self.playing[account] = self.count_playing(account), self._count_friendlies(account) + 1
        return True

    def count_playing(self, account: str | None) -> int:
        return self.playing.get(account, (0, 0))[0]

    def _count_friendlies(self, account: str) -> int:
        return self.playing.get(account, (0, 0))[1]


def select_matches(
    session: Session,
    boot: str,
    seconds: float,
    limit: int,
    *,
    match_id: str | None = None,
    friendlies: int | None = None,
) -> list[list[str]]:
    """Return about ``limit`` matches to claim, in order. The matches of an inner list must be claimed together.

    1. Matches that lost their runner come first, the oldest first, each in its own list.
    2. Due matches follow: each time, the oldest match of the account with the fewest matches in progress.

    A duplicate group with more than ``limit`` matches is returned alone. No bot gets more matches than the calls it
    accepts, and no account has more than ``friendlies`` friendlies in progress (None means no limit). If ``match_id``
    is given, no other match is considered.
    """
    room = ClaimCapacity(
        FreeCalls(calls_left(session, boot, seconds)), count_playing_by_account(session, boot, seconds), friendlies
    )
    lost = select(_M.id, _M.created_at, _M.created_by, _FRIENDLY.label("friendly")).where(
        _has_lost_one_claim(boot, seconds)
    )
    if barred := room.accounts_at_limit():
        lost = lost.where(~and_(_FRIENDLY, func.coalesce(_M.created_by, "").in_(barred)))
    taken = _reserve_units(
        session, room, [_single_match_unit(row) for row in _rows(session, lost, limit, match_id)], limit
    )
    if len(taken) < limit:
        queue = _Queue(session, boot, seconds, limit, room, match_id)
        taken += queue.next_units(limit - len(taken))
    return [list(unit.match_ids) for unit in taken]


def select_isolated_matches(
    session: Session, boot: str, seconds: float, limit: int, *, match_id: str | None = None
) -> list[list[str]]:
    """Return matches to claim that must each be played in a separate process, because too many claims were lost."""
    room = ClaimCapacity(FreeCalls(calls_left(session, boot, seconds)), {}, None)
    rows = [row for wanted in isolated_match_queries(boot, seconds) for row in _rows(session, wanted, limit, match_id)]
    units = [ClaimUnit((row.id,), row.created_at) for row in sorted(rows, key=lambda row: (row.created_at, row.id))]
    return [list(unit.match_ids) for unit in _reserve_units(session, room, units, limit)]


def has_lost_claim(boot: str, seconds: float) -> ColumnElement[bool]:
    """Return the condition for claimed matches whose lease expired."""
    return and_(_M.status == literal_column("'running'"), is_lease_expired(_M, boot, seconds))


def isolated_match_queries(boot: str, seconds: float) -> list[Select[Any]]:
    """Return queries for the ids and creation times of matches that must each be played in a separate process.

    One query is for due matches, the other for matches whose lease expired, so that each can use an index.
    """
    columns = select(_M.id, _M.created_at)
    lost = columns.where(has_lost_claim(boot, seconds), _count_lost_claims(boot, seconds) >= LOST_BEFORE_ISOLATED)
    return [columns.where(DUE, LOST_TWICE), lost]


def _has_lost_one_claim(boot: str, seconds: float) -> ColumnElement[bool]:
    return and_(has_lost_claim(boot, seconds), _count_lost_claims(boot, seconds) < LOST_BEFORE_ISOLATED)


def _count_lost_claims(boot: str, seconds: float) -> ColumnElement[int]:
    """Return the number of lost claims.

    The expired current claim counts, too, unless the machine was restarted since.
    """
    return _M.lost_claims + case((and_(_M.lease_until <= seconds, _M.lease_boot == boot), 1), else_=0)


class _Queue:
    """Select due matches in the order in which they are claimed."""

    def __init__(
        self, session: Session, boot: str, seconds: float, limit: int, room: ClaimCapacity, match_id: str | None
    ) -> None:
        self._session = session
        self._lease = boot, seconds
        self._at_once = limit + 4
        self._room = room
        self._match_id = match_id
        self._passed: set[str] = set()
        self._due: dict[str | None, int] | None = None

    def next_units(self, limit: int) -> list[ClaimUnit]:
        taken: list[ClaimUnit] = []
        room = limit
        heap = [(playing, oldest, creator or "") for creator, oldest, playing in self._creators()]
        heapq.heapify(heap)
        units = {creator: self._claimable_units(creator or None) for _, _, creator in heap}
        while heap and room > 0:
            playing, _, creator = heapq.heappop(heap)
            unit = next(units[creator], None)
            if unit is None:
                continue
            if taken and len(unit.match_ids) > room:
                break  # the unit comes first in the next claim
            taken.append(unit)
            room -= len(unit.match_ids)
            heapq.heappush(heap, (playing + len(unit.match_ids), unit.created_at, creator))
        return taken

    def _creators(self) -> list[tuple[str | None, datetime, int]]:
        """Return (creator, creation time of the oldest due match, number of matches in progress) for each creator."""
        waiting = [(row[0], row[1]) for row in self._session.execute(_CREATORS)]
        waiting.append((None, self._session.scalar(_OLDEST_WITHOUT_CREATOR)))
        return [
            (creator, oldest, self._room.count_playing(creator)) for creator, oldest in waiting if oldest is not None
        ]

    def _claimable_units(self, creator: str | None) -> Iterator[ClaimUnit]:
        """Yield the creator's units in order, without those whose bots have too few free calls at that moment."""
        looked_at = 0
        while looked_at < MAX_MATCHES_SEARCHED:
            units = self._units(creator)
            looked_at += len(units)
            if not units:
                return
            match_ids = [match_id for unit in units for match_id in unit.match_ids]
            seats = _seats(self._session, self._room.calls, match_ids)
            for unit in units:
                if any(match_id in self._passed for match_id in unit.match_ids):
                    continue
                self._passed.update(unit.match_ids)
                if self._room.reserve(unit, seats):
                    yield unit

    def _units(self, creator: str | None) -> list[ClaimUnit]:
        """Return the creator's next units, without units of full bots.

        At the limit of friendlies, omit friendlies, too.
        """
        looked = (self._oldest(creator, window) for window in self._windows(creator))
        rows: Sequence[Any] = next((found for found in looked if found), [])
        due_by_group = self._due_by_group([row.group_id for row in rows if row.kind == DealSharing.DUPLICATE])
        units = []
        for row in rows:
            match_ids = due_by_group[row.group_id] if row.kind == DealSharing.DUPLICATE else (row.id,)
            if match_ids:
                units.append(ClaimUnit(match_ids, row.created_at, creator if row.friendly else None))
            else:
                self._passed.add(row.id)
        return units

    def _windows(self, creator: str | None) -> Iterator[int]:
        """Yield the first of ``WINDOWS``, then each that contains more of the creator's matches than the one before."""
        yield WINDOWS[0]
        if self._due is None:
            self._due = {row[0]: row[1] for row in self._session.execute(_DUE_OF_CREATORS)}
        yield from (wider for narrower, wider in pairwise(WINDOWS) if self._due.get(creator, 0) > narrower)

    def _oldest(self, creator: str | None, window: int) -> Sequence[Any]:
        columns = *(_M[name] for name in (*CLAIM_ORDER, "group_id")), _FRIENDLY.label("friendly")
        due = select(*columns).where(DUE, ~LOST_TWICE, _M.created_by == creator)
        if self._match_id is not None:
            due = due.where(_M.id == self._match_id)
        if self._passed:
            due = due.where(_M.id.not_in(self._passed))
        oldest = due.order_by(*_AGE).limit(window).subquery()
        query = select(oldest, _GROUPS.c.kind).join(_GROUPS, _GROUPS.c.id == oldest.c.group_id)
        if not self._room.has_friendly(creator):
            query = query.where(~oldest.c.friendly)
        if full := self._room.calls.full_bots():
            # ``coalesce`` keeps SQLite from using the index on bots, which is slow for a bot with very many matches.
            sits = func.coalesce(_SEATS.c.bot_id, "").in_(full)
            query = query.where(~exists().where(_SEATS.c.match_id == oldest.c.id, sits))
        return self._session.execute(
            query.order_by(*(oldest.c[name] for name in CLAIM_ORDER)).limit(self._at_once)
        ).all()

    def _due_by_group(self, group_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the ids of each duplicate group's due matches, or none if another runner plays one of its matches."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(group_ids, ())
        if not found:
            return found
        boot, seconds = self._lease
        in_order = select(_M.group_id, _M.id).where(_M.group_id.in_(list(found))).order_by(*_AGE)
        played = {
            row.group_id
            for row in self._session.execute(
                in_order.where(_M.status == literal_column("'running'"), ~is_lease_expired(_M, boot, seconds))
            )
        }
        for row in self._session.execute(in_order.where(DUE, ~LOST_TWICE)):
            if row.group_id not in played:
                found[row.group_id] += (row.id,)
        return found


def _single_match_unit(row: Any) -> ClaimUnit:
    return ClaimUnit((row.id,), row.created_at, row.created_by if row.friendly else None)


def _reserve_units(session: Session, room: ClaimCapacity, units: Sequence[ClaimUnit], limit: int) -> list[ClaimUnit]:
    """Reserve room for the units in order. Return at most ``limit`` units, without those for which there is no room."""
    if not units:
        return []
    seats = _seats(session, room.calls, [match_id for unit in units for match_id in unit.match_ids])
    taken: list[ClaimUnit] = []
    for unit in units:
        if len(taken) < limit and room.reserve(unit, seats):
            taken.append(unit)
    return taken


def _rows(session: Session, query: Select[Any], limit: int, match_id: str | None) -> Sequence[Any]:
    if match_id is not None:
        query = query.where(_M.id == match_id)
    return session.execute(query.order_by(*_AGE).limit(3 * limit + 20)).all()


def _seats(session: Session, calls: FreeCalls, match_ids: Sequence[str]) -> dict[str, Counter[str]]:
    """Return how many seats each bot has in each match. Store the limits that these bots declared in ``calls.most``."""
    seats: dict[str, Counter[str]] = {match_id: Counter() for match_id in match_ids}
    for match_id, bot_id, max_concurrent_requests in session.execute(_SEATED, {"matches": match_ids}):
        seats[match_id][bot_id] += 1
        calls.most[bot_id] = max_concurrent_requests
    return seats


def _calls_needed(unit: ClaimUnit, seats: Mapping[str, Counter[str]]) -> Counter[str]:
    return sum((seats[match_id] for match_id in unit.match_ids), Counter())


def count_playing_by_account(session: Session, boot: str, seconds: float) -> dict[str | None, tuple[int, int]]:
    """Return how many matches that each account arranged are in progress, and how many of them are friendlies."""
    rows = session.execute(_PLAYING_OF_CREATORS, {"boot": boot, "seconds": seconds})
    return {creator: (count, friendlies) for creator, count, friendlies in rows}


def bots_being_checked(session: Session, boot: str, seconds: float) -> set[str]:
    """Return the ids of the bots that are being checked."""
    return set(session.scalars(_CHECKED, {"boot": boot, "seconds": seconds}))


def calls_left(session: Session, boot: str, seconds: float) -> dict[str, int]:
    """Return the number of free concurrent calls of each bot that plays or is being checked.

    Each seat uses one call.
    """
    left = {row[0]: row[1] for row in session.execute(_CALLS_LEFT, {"boot": boot, "seconds": seconds})}
    for bot_id, declared in session.execute(_CHECKED, {"boot": boot, "seconds": seconds}):
        left[bot_id] = left.get(bot_id, declared) - CALLS_PER_CHECK
    return left


def _creators_query() -> Select[Any]:
    """Return a query for the creators of due matches and the creation time of their oldest one.

    It needs only a few index lookups per creator.
    """
    first = _first_due_query(func.min(_M.created_by).label("creator"))
    creators = first.cte("creators", recursive=True)
    after = _first_due_query(func.min(_M.created_by)).where(_M.created_by > creators.c.creator)
    creators = creators.union_all(select(after.scalar_subquery()).where(creators.c.creator.is_not(None)))
    oldest = _first_due_query(func.min(_M.created_at)).where(_M.created_by == creators.c.creator)
    return select(creators.c.creator, oldest.scalar_subquery()).where(creators.c.creator.is_not(None))


def _first_due_query(first: ColumnElement[Any]) -> Select[Any]:
    return select(first).where(DUE)


# These queries are built only once, because building them takes longer than running them.
_IS_PLAYED: Final = and_(
    _M.status == literal_column("'running'"), ~is_lease_expired(_M, bindparam("boot"), bindparam("seconds"))
)
_PLAYING_OF_CREATORS: Final = (
    select(_M.created_by, func.count(), func.sum(case((_FRIENDLY, 1), else_=0)))
    .where(_IS_PLAYED)
    .group_by(_M.created_by)
)
_DUE_OF_CREATORS: Final = select(_M.created_by, func.count()).where(DUE).group_by(_M.created_by)
_CALLS_LEFT: Final = (
    select(_BOTS.c.id, _BOTS.c.max_concurrent_requests - func.count())
    .join(_SEATS, _SEATS.c.bot_id == _BOTS.c.id)
    .join(_MATCHES, _M.id == _SEATS.c.match_id)
    .where(_IS_PLAYED)
    .group_by(_BOTS.c.id, _BOTS.c.max_concurrent_requests)
)
_CHECKED: Final = (
    select(_BOTS.c.id, _BOTS.c.max_concurrent_requests)
    .join(Check, Check.bot_id == _BOTS.c.id)
    .where(Check.state == CheckState.RUNNING, ~is_lease_expired(Check, bindparam("boot"), bindparam("seconds")))
)
_SEATED: Final = (
    select(_SEATS.c.match_id, _SEATS.c.bot_id, _BOTS.c.max_concurrent_requests)
    .join(_BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .where(_SEATS.c.match_id.in_(bindparam("matches", expanding=True)))
)
_CREATORS: Final = _creators_query()
_OLDEST_WITHOUT_CREATOR: Final[Select[Any]] = _first_due_query(func.min(_M.created_at)).where(_M.created_by.is_(None))
