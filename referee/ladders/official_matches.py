"""Make the matches of official ladders: load the members that are due, choose tables, and create the matches.

The cost of a sweep depends on the members that are due and not on all of them. A bot has at most one of these matches
at a time, so that they never crowd out its tournaments.
"""

import hmac
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, case, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from referee.bots import certificates, house_bots
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.engine import current_time, take_advisory_lock
from referee.house.anchors import anchor_rating
from referee.ladders import members, new_versions
from referee.ladders.kinds import LadderPlay
from referee.ladders.tables import Ladder, LadderMember, LadderPlayer, Rating
from referee.match.time_limits import Limits
from referee.matches.scheduling import MatchPlan, create_matches
from referee.matches.states import PLAYABLE
from referee.matches.tables import StoredMatch
from referee.pairing.official import (
    Candidate,
    Filler,
    OfficialState,
    OfficialTable,
    choose_tables,
    find_owners_met_enough,
)
from referee.ratings.elo import START

MAX_POOL: Final = 200  # members of a ladder considered in one sweep, longest due first
MAX_TABLES: Final = 20  # made for a ladder in one sweep
MAX_RECENT_OPPONENTS: Final = 30
MAX_COUNTED: Final = 1_000  # members whose owners are counted; more than an account may have
RECHECK: Final = timedelta(hours=1)  # until a bot that cannot play is looked at again, if nothing else is heard of it

LADDER_LIMITS: Final = Limits()

_Query = TypeVar("_Query", bound=Select[*tuple[Any, ...]])


@dataclass(frozen=True, slots=True)
class LadderPlan:
    """Hold what a sweep does on a ladder: new tables, and members that cannot play yet with their next times."""

    ladder: Ladder
    tables: list[OfficialTable]
    postponed: dict[str, datetime] = field(default_factory=dict)


def has_work(session: Session, *, master_key: bytes) -> bool:
    """Return whether ``make_matches`` would change anything."""
    return any(plan.tables or plan.postponed for plan in _make_plans(session, current_time(session), master_key))


def make_matches(session: Session, *, master_key: bytes) -> int:
    """Make the matches that are due on all official ladders. Return their number."""
    take_advisory_lock(session, "ladders")  # so that two schedulers do not seat a bot twice
    moment = current_time(session)
    made = 0
    for plan in _make_plans(session, moment, master_key):
        made += _create(session, plan, moment, master_key)
        _postpone(session, plan)
    return made


def select_candidates(
    rows: Iterable[Any], ladder: Ladder, moment: datetime, owners: int, seated: Collection[str] = ()
) -> tuple[list[Candidate], dict[str, datetime]]:
    """Return the members that may get a seat now, and the next times of those that are due but cannot play.

    ``rows`` are members without a match in progress, longest due first, with the columns of ``_pool_query``.
    ``owners`` have bots on the ladder. Leave out the bots in ``seated``.
    """
    pool: list[Candidate] = []
    postponed: dict[str, datetime] = {}
    for row in rows:
        member, due = row.LadderMember, row.LadderMember.due_at <= moment
        later = _postponed_until(row, ladder, moment)
        if later is None and member.bot_id not in seated:
            pool.append(_candidate(row, ladder, due, moment, owners))
        elif later is not None and due:
            postponed[member.bot_id] = later
    return pool, postponed


def record_match(
    seated: Iterable[tuple[LadderMember, LadderPlayer]],
    ladder: Ladder,
    table: OfficialTable,
    match_id: str,
    moment: datetime,
) -> None:
    """Record a new match with the members at its table, and decide when the next match of each is due.

    A match of a new version that plays immediately counts towards nobody's pace, and its opponents stay due when they
    were.
    """
    found = list(seated)
    immediate = {member.bot_id for member, _ in found if new_versions.plays_immediately(member)}
    for member, player in found:
        player.match_id = match_id
        _record_match(member, table, moment, is_extra=bool(immediate))
        if not immediate or member.bot_id in immediate:
            member.due_at = members.next_due(member, ladder, player, moment)


def _record_match(member: LadderMember, table: OfficialTable, moment: datetime, *, is_extra: bool) -> None:
    owner_of = dict(zip(table.candidates, table.owners, strict=True))
    others = Counter(owner for bot_id, owner in owner_of.items() if bot_id != member.bot_id)
    member.owners_met = dict(Counter(owners_met_today(member, moment)) + others)
    is_same_day = member.day == moment.date()
    member.matches_of_day = 1 + (member.matches_of_day if is_same_day else 0)
    member.extra_of_day = is_extra + (member.extra_of_day if is_same_day else 0)
    member.day = moment.date()
    member.matches += 1
    member.last_match_at = moment
    member.matches_since_house = 0 if table.has_house else member.matches_since_house + 1
    taken = table.seats.index(member.bot_id)
    member.seat_counts = [times + (seat == taken) for seat, times in enumerate(member.seat_counts)]
    met = [*member.recent_opponents, *(other for other in table.seats if other != member.bot_id)]
    member.recent_opponents = met[-MAX_RECENT_OPPONENTS:]


def load_fillers(session: Session, ladder: Ladder) -> list[Filler]:
    """Return the house players that may fill tables of the ladder, with their ratings there in micro-points."""
    ratings = {
        bot.id: anchor_rating(ladder.game, ladder.options, ladder.seats, bot.url)
        for bot in house_bots.list_house_bots(session)
    }
    return [
        Filler(bot_id, START if rating is None else rating, is_anchor=rating is not None)
        for bot_id, rating in ratings.items()
    ]


def count_active_owners(session: Session, ladder: Ladder, moment: datetime) -> int:
    """Return the number of owners of bots that have matches left today, as far as they are among the next members due.

    Without the others, house players play as often as necessary until midnight.
    """
    bots = select(Bot.owner_id).join(LadderMember, LadderMember.bot_id == Bot.id)
    bots = bots.join(LadderPlayer, LadderPlayer.bot_id == Bot.id)
    bots = bots.where(LadderMember.ladder_id == ladder.id, LadderMember.due_at.is_not(None), _can_play(ladder.game))
    paced = LadderMember.matches_of_day - LadderMember.extra_of_day
    here = case((LadderMember.day == moment.date(), paced), else_=0)
    maximum = LadderPlayer.daily_maximum
    bots = bots.where(
        or_(here < (ladder.daily_matches or 0), new_versions.is_playing_immediately()),
        or_(maximum.is_(None), _count_matches_of_day(moment) < maximum),
    )
    next_bots = bots.order_by(LadderMember.due_at).limit(MAX_POOL).subquery()
    return session.scalars(select(func.count(next_bots.c.owner_id.distinct()))).one()


def count_owners(session: Session, ladder: Ladder) -> int:
    """Return the number of owners of the next ``MAX_COUNTED`` bots that play on the ladder, which bounds the cost."""
    owners = select(Bot.owner_id).join(LadderMember, LadderMember.bot_id == Bot.id)
    owners = owners.where(LadderMember.ladder_id == ladder.id, LadderMember.due_at.is_not(None), _can_play(ladder.game))
    counted = owners.limit(MAX_COUNTED).subquery()
    return session.scalars(select(func.count(counted.c.owner_id.distinct()))).one()


def owners_met_today(member: LadderMember, moment: datetime) -> dict[str, int]:
    """Return how often the bot met bots of each other owner today, keyed by owner."""
    return member.owners_met if member.day == moment.date() else {}


def find_waiting_since(session: Session, member: LadderMember) -> datetime:
    """Return since when a member that is due waits for bots of other owners."""
    last = select(StoredMatch.ladder_id, StoredMatch.finished_at)
    last = last.join(LadderPlayer, LadderPlayer.match_id == StoredMatch.id)
    found = session.execute(last.where(LadderPlayer.bot_id == member.bot_id)).one_or_none()
    return _waiting_since(member, *(found or (None, None)))


def _make_plans(session: Session, moment: datetime, master_key: bytes) -> list[LadderPlan]:
    """Return the plans of all ladders with a member that is due, longest due first. A bot is at one table at most."""
    seated: set[str] = set()
    plans: list[LadderPlan] = []
    for ladder in session.scalars(_due_ladders(moment)).all():
        plan = _plan_ladder(session, ladder, moment, master_key, seated)
        seated.update(bot for table in plan.tables for bot in table.candidates)
        plans.append(plan)
    return plans


def _plan_ladder(session: Session, ladder: Ladder, moment: datetime, master_key: bytes, seated: set[str]) -> LadderPlan:
    rows = session.execute(_pool_query(ladder, moment)).all()
    pool, postponed = select_candidates(rows, ladder, moment, count_owners(session, ladder), seated)
    if not any(candidate.due for candidate in pool):
        return LadderPlan(ladder, [], postponed)
    state = OfficialState(ladder.seats, count_active_owners(session, ladder, moment), load_fillers(session, ladder))
    draw_key = hmac.digest(master_key, b"official ladder|" + ladder.id.encode(), "sha256")
    tables = choose_tables(pool, state, want=MAX_TABLES, draw_key=draw_key, serial=moment.isoformat())
    return LadderPlan(ladder, tables, postponed)


def _due_ladders(moment: datetime) -> Select[Any]:
    due = _join_last_match(select(LadderMember.ladder_id, func.min(LadderMember.due_at).label("since")))
    due = due.where(LadderMember.due_at.is_not(None), LadderMember.due_at <= moment, *_is_free())
    longest = due.group_by(LadderMember.ladder_id).subquery()
    joined = select(Ladder).join(longest, longest.c.ladder_id == Ladder.id)
    return joined.where(Ladder.official).order_by(longest.c.since, Ladder.id)


def _pool_query(ladder: Ladder, moment: datetime) -> Select[Any]:
    """Return a query of the members without a match in progress, longest due first."""
    columns = (
        LadderMember,
        LadderPlayer,
        Bot.owner_id,
        _can_play(ladder.game).label("can_play"),
        Bot.games,
        func.coalesce(Rating.value, START).label("rating"),
        StoredMatch.finished_at.label("free_since"),
        StoredMatch.ladder_id.label("last_ladder"),
        _count_matches_of_day(moment).label("matches_of_day"),
    )
    query = _join_last_match(select(*columns)).join(Bot, Bot.id == LadderMember.bot_id)
    query = query.outerjoin(Rating, and_(Rating.ladder_id == ladder.id, Rating.bot_id == LadderMember.bot_id))
    query = query.where(LadderMember.ladder_id == ladder.id, LadderMember.due_at.is_not(None), *_is_free())
    return query.order_by(LadderMember.due_at, LadderMember.bot_id).limit(MAX_POOL)


def _count_matches_of_day(moment: datetime) -> ScalarSelect[Any]:
    """Return a subquery that counts the matches of a ``LadderMember`` on all official ladders today."""
    other = aliased(LadderMember)
    counted = select(func.coalesce(func.sum(other.matches_of_day), 0))
    return counted.where(other.bot_id == LadderMember.bot_id, other.day == moment.date()).scalar_subquery()


def _join_last_match(query: _Query) -> _Query:
    query = query.select_from(LadderMember).join(LadderPlayer, LadderPlayer.bot_id == LadderMember.bot_id)
    return query.outerjoin(StoredMatch, StoredMatch.id == LadderPlayer.match_id)


def _is_free() -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for members whose owner lets them play and whose last match is over."""
    over = or_(StoredMatch.id.is_(None), StoredMatch.status.not_in(PLAYABLE))
    return LadderPlayer.play == LadderPlay.ON, over


def _can_play(game: str) -> ColumnElement[bool]:
    return and_(Bot.status == BotState.VERIFIED, certificates.is_certified(game))


def has_matches_left(row: Any, ladder: Ladder, moment: datetime) -> bool:
    """Return whether a member may play once more today."""
    member, maximum = row.LadderMember, row.LadderPlayer.daily_maximum
    here = member.matches_of_day - member.extra_of_day if member.day == moment.date() else 0
    may_play = here < (ladder.daily_matches or 0) or new_versions.plays_immediately(member)
    return may_play and (maximum is None or row.matches_of_day < maximum)


def _postponed_until(row: Any, ladder: Ladder, moment: datetime) -> datetime | None:
    """Return when a member may play again, or None if it may play now."""
    if not row.can_play or ladder.game not in row.games:
        return moment + RECHECK
    return None if has_matches_left(row, ladder, moment) else members.next_day(moment)


def _candidate(row: Any, ladder: Ladder, due: bool, moment: datetime, owners: int) -> Candidate:
    member, daily_matches = row.LadderMember, members.daily_limit(ladder, row.LadderPlayer)
    met = owners_met_today(member, moment)
    return Candidate(
        bot=member.bot_id,
        owner=row.owner_id,
        rating=row.rating,
        matches=member.matches,
        due=due,
        waited_s=(moment - _waiting_since(member, row.last_ladder, row.free_since)).total_seconds(),
        matches_since_house=member.matches_since_house,
        seat_counts=member.seat_counts,
        recent_opponents=member.recent_opponents,
        owners_met_enough=find_owners_met_enough(met, daily_matches=daily_matches, seats=ladder.seats, owners=owners),
    )


def _waiting_since(member: LadderMember, last_ladder: str | None, free_since: datetime | None) -> datetime:
    """Return since when a member that is due waits. Matches on other ladders do not interrupt the wait."""
    assert member.due_at is not None
    return member.due_at if free_since is None or last_ladder != member.ladder_id else max(member.due_at, free_since)


def _create(session: Session, plan: LadderPlan, moment: datetime, master_key: bytes) -> int:
    ladder = plan.ladder
    wanted = [
        MatchPlan(
            ladder.game, table.seats, ladder.options, LADDER_LIMITS, ladder_id=ladder.id, listed=not ladder.unlisted
        )
        for table in plan.tables
    ]
    match_ids = create_matches(session, wanted, master_key=master_key) if wanted else []
    for table, match_id in zip(plan.tables, match_ids, strict=True):
        seated = [
            (session.get_one(LadderMember, (bot_id, ladder.id)), session.get_one(LadderPlayer, bot_id))
            for bot_id in table.candidates
        ]
        record_match(seated, ladder, table, match_id, moment)
    session.flush()
    return len(match_ids)


def _postpone(session: Session, plan: LadderPlan) -> None:
    for bot_id, later in plan.postponed.items():
        of_member = LadderMember.bot_id == bot_id, LadderMember.ladder_id == plan.ladder.id
        # The owner may have switched the play off meanwhile.
        session.execute(update(LadderMember).where(*of_member, LadderMember.due_at.is_not(None)).values(due_at=later))
