"""Find the matches to play next. Nothing is written here; ``claims`` claims what was found.

A due match can be claimed when all its bots have a free request, so what was found once to be impossible remains so
until one of these bots comes free. A runner therefore looks at the matches of the bots that it has just freed, and
only now and then everywhere. Each look reads a bounded number of matches, however many are due: the oldest of each
lane (``shares``), and the oldest of each lane for some bots, all from the list ``queued_seats``.

No match waits forever:

1. The oldest match that is not a friendly holds the free requests of its bots: no other match gets them. The matches
   in progress end in bounded time, so one day it has all of its bots.
2. Accounts take turns for slots: next is the account with the fewest matches in progress, then the oldest match. The
   account of the oldest match is thus next at the latest when its own matches in progress have ended. Then another
   match is the oldest: each has only finitely many before it. Friendlies take turns in their shares in the same way.
3. Looks everywhere also go through all bots, some at a time. So a match is found even if nobody noticed that its bots
   came free, because their runner died, for example.
"""

import heapq
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Select,
    String,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.orm import Session

from referee.db.engine import lease_now
from referee.db.leases import is_lease_expired
from referee.db.prepared import Prepared, list_parameter
from referee.games import GAMES
from referee.matches.queue.capacity import ClaimCapacity, ClaimUnit, load_capacity
from referee.matches.queue.queued_seats import lane_of
from referee.matches.queue.shares import Lane, Pool, parse_lane
from referee.matches.states import DealSharing, MatchKind
from referee.matches.tables import CLAIM_ORDER, DealGroup, QueuedSeat, StoredMatch, friendly

LOST_BEFORE_ISOLATED: Final = 2
WINDOW: Final = 100  # oldest matches of a lane, or of a lane and a bot, that one look reads
BOTS_PASSED: Final = 100  # bots of which a look everywhere asks at most whether they are free
BOTS_SEARCHED: Final = 16  # free bots among them whose matches it reads

# These queries do not use the ORM: runners query several times a second, and the ORM would cause most of the cost.
_MATCHES, _QUEUED, _GROUPS = (model.__table__ for model in (StoredMatch, QueuedSeat, DealGroup))
_M, _Q = _MATCHES.c, _QUEUED.c
# These are literals, not parameters: otherwise the planner does not see that a partial index covers the query.
HAS_GAME: Final = or_(  # matches of games that this process has, in the version of their rules
    *(
        and_(_M.game == literal_column(f"'{game.name}'"), _M.rules_version == literal_column(str(game.rules_version)))
        for game in GAMES
    )
)
DUE: Final[ColumnElement[bool]] = and_(_M.status == literal_column("'due'"), HAS_GAME)
LOST_TWICE: Final[ColumnElement[bool]] = _M.lost_claims > literal_column("1")
_FIRST_SEAT: Final = _Q.seat == literal_column("0")
_AGE: Final = [_M[name] for name in CLAIM_ORDER]
_QUEUE_AGE: Final = [*(_Q[name] for name in CLAIM_ORDER[:-1]), _Q.match_id]


class _Terms(NamedTuple):
    """Hold the columns of a match from which its unit is built."""

    id: str
    created_at: datetime
    created_by: str | None
    tournament_id: str | None
    ladder_id: str | None
    rated: bool


_Due = tuple[_Terms, str, DealSharing]  # a due match, its deal group, and the kind of the group
_TERMS: Final = [_M[name] for name in _Terms._fields]


@dataclass(frozen=True, slots=True)
class Look:
    """Say where to look for due matches: at those of some bots, and ``everywhere`` if nothing else is known.

    ``after_bot`` is where the previous look everywhere stopped.
    """

    freed: Collection[str] = ()
    everywhere: bool = True
    after_bot: str = ""


EVERYWHERE: Final = Look()


class Found(NamedTuple):
    """Hold the matches that a look found, in order, and where the next look everywhere continues.

    ``is_all`` says whether nothing more was there; otherwise the look ended because the limit was reached.
    """

    units: list[ClaimUnit]
    is_all: bool
    last_bot: str


def find_matches(
    session: Session, limit: int, *, look: Look = EVERYWHERE, slots: Pool | None = None, match_id: str | None = None
) -> Found:
    """Return about ``limit`` matches that may be claimed now, in order.

    Matches that lost their runner come first, then due matches of the accounts in turn. The matches of a duplicate
    group stay together, even if they exceed ``limit``. No bot gets more matches than the requests that it accepts, and
    no matches get more than their share of a bot or of ``slots``.
    """
    boot, seconds = lease_now(session)
    search = _Search(session, boot, seconds, load_capacity(session, boot, seconds, slots))
    units = search.lost_units(limit, match_id)
    if match_id is not None:
        return Found((units + search.unit_of_match(match_id))[:limit], True, "")
    last_bot = look.after_bot
    units += search.due_units(limit - len(units), look)
    if look.everywhere and not search.has_more:
        bots, last_bot = search.free_bots(look.after_bot)
        units += search.units_of_bots(limit - len(units), bots)
    return Found(units, not search.has_more, last_bot)


def find_isolated_matches(session: Session, limit: int, *, match_id: str | None = None) -> list[ClaimUnit]:
    """Return matches to claim that must each be played in a separate process, because too many claims were lost."""
    boot, seconds = lease_now(session)
    wanted = _build_parameters(boot, seconds, limit, match_id)
    found = [_Terms(*row) for query in _ISOLATED for row in query.rows(session, wanted)]
    search = _Search(session, boot, seconds, load_capacity(session, boot, seconds))
    units = [_single(match) for match in sorted(found, key=lambda match: (match.created_at, match.id))]
    return search.reserve_units(units, limit)


def has_lost_claim(boot: Any, seconds: Any) -> ColumnElement[bool]:
    """Return the condition for claimed matches whose lease expired."""
    return and_(_M.status == literal_column("'running'"), is_lease_expired(_M, boot, seconds), HAS_GAME)


def isolated_match_queries(boot: Any, seconds: Any) -> list[Select[Any]]:
    """Return queries for the ids and creation times of matches that must each be played in a separate process.

    One query is for due matches, the other for matches whose lease expired, so that each can use an index.
    """
    columns = select(_M.id, _M.created_at)
    lost = columns.where(has_lost_claim(boot, seconds), _count_lost_claims(boot, seconds) >= LOST_BEFORE_ISOLATED)
    return [columns.where(DUE, LOST_TWICE), lost]


def _count_lost_claims(boot: Any, seconds: Any) -> ColumnElement[int]:
    """Return the number of lost claims.

    The expired current claim counts, too, unless the machine was restarted since.
    """
    return _M.lost_claims + case((and_(_M.lease_until <= seconds, _M.lease_boot == boot), 1), else_=0)


class _LaneQueue(NamedTuple):
    """Represent due matches in order of age: those of a lane, or those of a bot in a lane."""

    lane: Lane
    oldest: datetime
    bot_id: str | None


class _Search:
    """Find matches in one transaction. Whatever is found takes its places from the capacity."""

    def __init__(self, session: Session, boot: str, seconds: float, capacity: ClaimCapacity) -> None:
        self._session = session
        self._lease = boot, seconds
        self._capacity = capacity
        self._passed: set[str] = set()
        self._is_awaited: dict[str, bool] = {}
        self.has_more = False  # a search ended because the limit was reached

    def lost_units(self, limit: int, match_id: str | None) -> list[ClaimUnit]:
        """Return matches whose runner was lost once, the oldest first."""
        wanted = {
            **_build_parameters(*self._lease, limit, match_id),
            "friendlies": self._may_play(""),
            "barred": [account for account in self._capacity.playing if account and not self._may_play(account)],
        }
        return self.reserve_units([_single(_Terms(*row)) for row in _LOST.rows(self._session, wanted)], limit)

    def unit_of_match(self, match_id: str) -> list[ClaimUnit]:
        return self.reserve_units(self._units(_read_due(_DUE_MATCH.rows(self._session, {"match": match_id}))), 1)

    def due_units(self, limit: int, look: Look) -> list[ClaimUnit]:
        """Return due matches: the oldest, those of the freed bots, and those of all lanes if the look is everywhere."""
        lanes = [_LaneQueue(parse_lane(lane), oldest, None) for lane, oldest in _LANES.rows(self._session)]
        held = self._hold_oldest(lanes)
        lines = [*(lanes if look.everywhere else ()), *self._lines_of_bots(look.freed)]
        return self._take_turns(lines, limit, held)

    def units_of_bots(self, limit: int, bot_ids: Sequence[str]) -> list[ClaimUnit]:
        return self._take_turns(self._lines_of_bots(bot_ids), limit)

    def free_bots(self, after_bot: str) -> tuple[list[str], str]:
        """Return some bots of due matches that have free requests, and the bot after which to continue."""
        passed = [row[0] for row in _BOTS_AFTER.rows(self._session, {"after": after_bot, "most": BOTS_PASSED})]
        free = [bot_id for bot_id in passed if self._capacity.has_call(bot_id)]
        if len(free) > BOTS_SEARCHED:
            return free[:BOTS_SEARCHED], free[BOTS_SEARCHED - 1]
        return free, passed[-1] if len(passed) == BOTS_PASSED else ""

    def reserve_units(self, units: Sequence[ClaimUnit], limit: int) -> list[ClaimUnit]:
        """Return the units for which there is room, in order."""
        self._capacity.load_seats(self._session, [match_id for unit in units for match_id in unit.match_ids])
        taken: list[ClaimUnit] = []
        for unit in units:
            if len(taken) < limit and self._capacity.reserve(unit):
                taken.append(unit)
        return taken

    def _may_play(self, account: str) -> bool:
        return self._capacity.has_slot(Lane(MatchKind.FRIENDLY, account))

    def _hold_oldest(self, lanes: Sequence[_LaneQueue]) -> list[tuple[_LaneQueue, ClaimUnit]]:
        """Take the free requests of the bots of the oldest match that is not a friendly. Return it if it may begin."""
        organised = [line for line in lanes if line.lane.kind != MatchKind.FRIENDLY]
        if not organised:
            return []
        line = min(organised, key=lambda line: line.oldest)
        for unit in self._units(self._oldest(line, [], limit=1)):
            self._capacity.load_seats(self._session, unit.match_ids)
            self._passed.update(unit.match_ids)
            if self._capacity.take_calls(unit, hold=True):
                return [(line, unit)]
        return []

    def _lines_of_bots(self, bot_ids: Collection[str]) -> list[_LaneQueue]:
        free = [bot_id for bot_id in bot_ids if self._capacity.has_call(bot_id)]
        lanes = _LANES_OF_BOT.rows_of_each(self._session, [{"bot": bot_id} for bot_id in free])
        return [
            _LaneQueue(parse_lane(lane), oldest, bot_id)
            for bot_id, found in zip(free, lanes, strict=True)
            for lane, oldest in found
        ]

    def _take_turns(
        self, lines: Sequence[_LaneQueue], room: int, held: Sequence[tuple[_LaneQueue, ClaimUnit]] = ()
    ) -> list[ClaimUnit]:
        """Take matches from the lines: the account with the fewest in progress is next, then the oldest match.

        A match in ``held`` has its requests already, and is in a line of its own.
        """
        units = [*(self._begin(unit) for _, unit in held), *(self._claimable(line) for line in lines)]
        lines = [*(line for line, _ in held), *lines]
        playing = self._capacity.playing
        turns = [(playing[line.lane.account], line.oldest, at) for at, line in enumerate(lines)]
        heapq.heapify(turns)
        taken: list[ClaimUnit] = []
        while turns and room > 0:
            count, oldest, at = heapq.heappop(turns)
            if (now := playing[lines[at].lane.account]) > count:
                heapq.heappush(turns, (now, oldest, at))
                continue
            unit = next(units[at], None)
            if unit is None:
                continue
            if taken and len(unit.match_ids) > room:
                room = 0  # the unit comes first in the next look
                break
            taken.append(unit)
            room -= len(unit.match_ids)
            heapq.heappush(turns, (playing[lines[at].lane.account], unit.created_at, at))
        self.has_more = room <= 0
        return taken

    def _begin(self, unit: ClaimUnit) -> Iterator[ClaimUnit]:
        self._capacity.count(unit)
        yield unit

    def _claimable(self, line: _LaneQueue) -> Iterator[ClaimUnit]:
        """Yield the units of a line that fit, in order, with their places taken."""
        read = 0
        while read < WINDOW and self._capacity.has_slot(line.lane):
            units = self._units(self._oldest(line, self._capacity.full_bots(line.lane)))
            if not units:
                return
            read += len(units)
            self._capacity.load_seats(self._session, [match_id for unit in units for match_id in unit.match_ids])
            for unit in units:
                is_new = self._passed.isdisjoint(unit.match_ids)
                self._passed.update(unit.match_ids)
                if is_new and self._fits(unit):
                    yield from self._begin(unit)

    def _fits(self, unit: ClaimUnit) -> bool:
        if unit.lane.kind == MatchKind.FRIENDLY:
            return self._capacity.take_calls(unit, yields=self._is_awaited_by_others)
        # A unit that needs several requests of one bot would otherwise be overtaken by matches that need one.
        return self._capacity.take_calls(unit, hold=self._capacity.has_several_seats(unit))

    def _is_awaited_by_others(self, bot_id: str) -> bool:
        """Return whether a match that is not a friendly waits for the bot."""
        if bot_id not in self._is_awaited:
            lanes = (parse_lane(lane) for lane, _ in _LANES_OF_BOT.rows(self._session, {"bot": bot_id}))
            self._is_awaited[bot_id] = any(lane.kind != MatchKind.FRIENDLY for lane in lanes)
        return self._is_awaited[bot_id]

    def _oldest(self, line: _LaneQueue, full: Sequence[str], *, limit: int = 12) -> list[_Due]:
        """Return the oldest matches of a line, of the first ``WINDOW`` only, that need none of the full bots."""
        query = _OLDEST[line.bot_id is not None, bool(full)]
        wanted = {"lane": str(line.lane), "bot": line.bot_id, "passed": list(self._passed), "full": full, "most": limit}
        return _read_due(query.rows(self._session, wanted))

    def _units(self, matches: Sequence[_Due]) -> list[ClaimUnit]:
        due_by_group = self._due_by_group([group for _, group, kind in matches if kind == DealSharing.DUPLICATE])
        units = []
        for match, group, kind in matches:
            match_ids = due_by_group[group] if kind == DealSharing.DUPLICATE else (match.id,)
            if match_ids:
                units.append(ClaimUnit(match_ids, match.created_at, lane_of(match)))
            else:
                self._passed.add(match.id)
        return units

    def _due_by_group(self, group_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the ids of each duplicate group's due matches, or none if another runner plays one of its matches."""
        found: dict[str, tuple[str, ...]] = dict.fromkeys(group_ids, ())
        if not found:
            return found
        boot, seconds = self._lease
        rows = _OPEN_MATCHES.rows(self._session, {"groups": list(found), "boot": boot, "seconds": seconds})
        played = {group_id for group_id, _, is_due in rows if not is_due}
        for group_id, match_id, _ in rows:
            if group_id not in played:
                found[group_id] += (match_id,)
        return found


def _single(match: _Terms) -> ClaimUnit:
    return ClaimUnit((match.id,), match.created_at, lane_of(match))


def _read_due(rows: Sequence[Sequence[Any]]) -> list[_Due]:
    return [(_Terms(*terms), group_id, kind) for *terms, group_id, kind in rows]


def _build_parameters(boot: str, seconds: float, limit: int, match_id: str | None) -> dict[str, Any]:
    return {"boot": boot, "seconds": seconds, "most": 3 * limit + 20, "match": match_id}


def _skip_scan(column: Any, *where: ColumnElement[bool], after: Any = None) -> Any:
    """Return a recursive query for the distinct values of a column, with one index lookup for each."""
    least = select(func.min(column).label("value")).where(*where)
    first = least if after is None else least.where(column > after)
    found = first.cte("found", recursive=True)
    following = least.where(column > found.c.value).scalar_subquery()
    return found.union_all(select(following).where(found.c.value.is_not(None)))


def _lanes_query(of: ColumnElement[bool]) -> Select[Any]:
    """Return a query for the lanes that have due matches, each with the time of its oldest."""
    lanes = _skip_scan(_Q.lane, of)
    oldest = select(func.min(_Q.created_at)).where(of, _Q.lane == lanes.c.value).scalar_subquery()
    return select(lanes.c.value, oldest).where(lanes.c.value.is_not(None))


def _oldest_query(line: ColumnElement[bool], *, some_full: bool) -> Select[Any]:
    """Return the query for the oldest due matches of a line; with ``some_full``, without those that need full bots."""
    window = select(_Q.match_id).join(_MATCHES, _M.id == _Q.match_id).where(_Q.lane == bindparam("lane"), line)
    window = window.where(DUE, ~LOST_TWICE, _Q.match_id.not_in(list_parameter("passed")))
    oldest = window.order_by(*_QUEUE_AGE).limit(WINDOW).subquery()
    query = _DUE_TERMS.join(oldest, oldest.c.match_id == _M.id)
    if some_full:
        other = _QUEUED.alias()
        # ``coalesce`` makes SQLite look the bots up by match, not by bot.
        needs = func.coalesce(other.c.bot_id, "").in_(list_parameter("full"))
        query = query.where(~exists().where(other.c.match_id == oldest.c.match_id, needs))
    return query.order_by(*_AGE).limit(bindparam("most"))


def _select_wanted(query: Select[Any]) -> Select[Any]:
    """Return a query for the terms of the oldest matches, or of the one named by the parameter ``match``."""
    one = bindparam("match", type_=String)
    wanted = query.with_only_columns(*_TERMS).where(or_(one.is_(None), _M.id == one))
    return wanted.order_by(*_AGE).limit(bindparam("most"))


# These queries are built only once, because building them takes longer than running them.
_LEASE: Final[Any] = bindparam("boot"), bindparam("seconds")
_ISOLATED: Final = [Prepared(_select_wanted(query)) for query in isolated_match_queries(*_LEASE)]
_BARRED: Final = func.coalesce(_M.created_by, "").in_(list_parameter("barred"))
_LOST: Final = Prepared(
    _select_wanted(
        select(_M.id).where(
            has_lost_claim(*_LEASE),
            _count_lost_claims(*_LEASE) < LOST_BEFORE_ISOLATED,
            or_(~friendly(_M), and_(bindparam("friendlies", type_=Boolean), ~_BARRED)),
        )
    )
)
# 1 for due matches, 0 for those that are played. As an expression, it keeps SQLite from reading all due matches.
_IS_DUE: Final = case(
    (and_(DUE, ~LOST_TWICE), 1), (and_(_M.status == literal_column("'running'"), ~is_lease_expired(_M, *_LEASE)), 0)
)
_OPEN_MATCHES: Final = Prepared(
    select(_M.group_id, _M.id, _IS_DUE)
    .where(_M.group_id.in_(list_parameter("groups")), _IS_DUE.is_not(None))
    .order_by(*_AGE)
)
_DUE_TERMS: Final = select(*_TERMS, _M.group_id, _GROUPS.c.kind).join(_GROUPS, _GROUPS.c.id == _M.group_id)
_DUE_MATCH: Final = Prepared(_DUE_TERMS.where(DUE, ~LOST_TWICE, _M.id == bindparam("match")))
_BOT: Final = _Q.bot_id == bindparam("bot")
_LANES: Final = Prepared(_lanes_query(_FIRST_SEAT))
_LANES_OF_BOT: Final = Prepared(_lanes_query(_BOT))
_FOUND_BOTS: Final = _skip_scan(_Q.bot_id, after=bindparam("after"))
_BOTS_AFTER: Final = Prepared(
    select(_FOUND_BOTS.c.value).where(_FOUND_BOTS.c.value.is_not(None)).limit(bindparam("most"))
)
_OLDEST: Final = {  # by whether the line is that of a bot, and whether some bots are full
    (of_bot, some_full): Prepared(_oldest_query(_BOT if of_bot else _FIRST_SEAT, some_full=some_full))
    for of_bot in (False, True)
    for some_full in (False, True)
}
