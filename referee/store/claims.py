"""Claims: which runner plays a match now. A claim is a lease and an epoch; every later write carries the epoch."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select, tuple_, update
from sqlalchemy.orm import Session

from referee.store.db import changed, lease_now, now, queue_up
from referee.store.leases import LEASE_S, expired
from referee.store.schema import Bot, Match, MatchSeat

LOST_BEFORE_ALONE: Final = 2
CLAIMS_BEFORE_STUCK: Final = 5


@dataclass(frozen=True, slots=True)
class Claim:
    """A match that is ours as long as its epoch is this."""

    match_id: str
    epoch: int


def claim(session: Session, limit: int, *, alone: bool = False, match_id: str | None = None) -> list[Claim]:
    """Up to ``limit`` matches that are due or whose claimer is gone, the oldest first, each given to one asker.

    A match whose claim was lost twice is given only with ``alone=True``, and is stuck after five such claims that
    recorded no row. No bot is given more matches at once than it takes calls.
    """
    queue_up(session, "claims")  # so that what a bot may take is counted by one at a time
    boot, seconds = lease_now(session)
    if alone:
        _give_up_on_hopeless(session, boot, seconds)
    left = _calls_left(session, boot, seconds)
    query = _claimable(boot, seconds, alone, [bot_id for bot_id, calls in left.items() if calls <= 0])
    if match_id is not None:
        query = query.where(Match.id == match_id)
    candidates = list(session.scalars(query.limit(3 * limit + 20).with_for_update(skip_locked=True)))
    chosen = _within_calls(session, candidates, left)
    return _take(session, chosen[:limit], boot, seconds, alone)


def renew(session: Session, claims: Iterable[Claim]) -> set[str]:
    """Holds claims on and gives the ids of those that are still ours."""
    wanted = [(claim.match_id, claim.epoch) for claim in claims]
    boot, seconds = lease_now(session)
    ours = ours_of(session, wanted)
    _prolong(session, ours, boot, seconds)
    return ours


def give_back(session: Session, claims: Iterable[Claim]) -> int:
    """Lets others claim these matches at once; claims that are no longer ours are passed over.

    What is given back was not lost: such a claim does not count towards stuck.
    """
    wanted = [(claim.match_id, claim.epoch) for claim in claims]
    held = tuple_(Match.id, Match.epoch).in_(wanted)
    idle = Match.claims_without_progress
    freed = update(Match).where(held, Match.status == "running").values(status="due", lease_boot=None, lease_until=None)
    return changed(session, freed.values(claims_without_progress=case((idle > 0, idle - 1), else_=0)))


def ours_of(session: Session, wanted: Sequence[tuple[str, int]]) -> set[str]:
    """Those of these (id, epoch) that may still be written to; they are locked until the transaction ends."""
    if not wanted:
        return set()
    held = tuple_(Match.id, Match.epoch).in_(wanted)
    query = select(Match.id).where(held, Match.status == "running").order_by(Match.id)
    return set(session.scalars(query.with_for_update()))


@dataclass(frozen=True, slots=True)
class Sweep:
    """What there is to do. ``alone`` are matches that want a work-horse of their own."""

    waiting: int
    due: int
    running: int
    expired: int
    alone: list[str]
    checks_due: int
    stuck: int


def sweep(session: Session) -> Sweep:
    """Counts for the scheduler, which wakes runners by them."""
    boot, seconds = lease_now(session)
    # Two counts, because the states alone are counted from the index.
    counted = select(Match.status, func.count()).where(Match.status.in_(["waiting", "due", "running", "stuck"]))
    by_status: dict[str, int] = dict(session.execute(counted.group_by(Match.status)).all())
    lost = select(func.count()).select_from(Match).where(_lost(boot, seconds))
    alone = select(Match.id).where(_free(boot, seconds), _losses(boot, seconds) >= LOST_BEFORE_ALONE)
    checks = select(func.count()).where(
        or_(Bot.check_state == "due", and_(Bot.check_state == "running", expired(Bot, boot, seconds)))
    )
    return Sweep(
        waiting=by_status.get("waiting", 0),
        due=by_status.get("due", 0),
        running=by_status.get("running", 0),
        expired=session.scalars(lost).one(),
        alone=list(session.scalars(alone.order_by(Match.created_at, Match.id).limit(20))),
        checks_due=session.scalars(checks).one(),
        stuck=by_status.get("stuck", 0),
    )


def _lost(boot: str, seconds: float) -> ColumnElement[bool]:
    return and_(Match.status == "running", expired(Match, boot, seconds))


def _free(boot: str, seconds: float) -> ColumnElement[bool]:
    return or_(Match.status == "due", _lost(boot, seconds))


def _losses(boot: str, seconds: float) -> ColumnElement[int]:
    """Claims lost, the present one counted. A restart of the machine is not held against a match."""
    gone = and_(Match.status == "running", Match.lease_until <= seconds, Match.lease_boot == boot)
    return Match.lost_claims + case((gone, 1), else_=0)


def _give_up_on_hopeless(session: Session, boot: str, seconds: float) -> None:
    hopeless = and_(_free(boot, seconds), Match.claims_without_progress >= CLAIMS_BEFORE_STUCK)
    session.execute(
        update(Match)
        .where(hopeless)
        .values(status="stuck", reason=f"{CLAIMS_BEFORE_STUCK} claims recorded nothing", epoch=Match.epoch + 1)
        .values(lease_boot=None, lease_until=None)
    )


def _claimable(boot: str, seconds: float, alone: bool, full: Sequence[str]) -> Select[Match]:
    """Candidates in order of age, none with a bot that already plays as much as it can."""
    losses = _losses(boot, seconds)
    query = select(Match).where(
        _free(boot, seconds), losses >= LOST_BEFORE_ALONE if alone else losses < LOST_BEFORE_ALONE
    )
    if full:
        query = query.where(Match.id.not_in(select(MatchSeat.match_id).where(MatchSeat.bot_id.in_(full))))
    return query.order_by(Match.created_at, Match.stage, Match.table_no, Match.id)


def _calls_left(session: Session, boot: str, seconds: float) -> dict[str, int]:
    """How many more calls each bot that plays now could take; a seat takes one at a time."""
    playing = (
        select(Bot.id, Bot.max_calls - func.count())
        .join(MatchSeat, MatchSeat.bot_id == Bot.id)
        .join(Match, Match.id == MatchSeat.match_id)
        .where(Match.status == "running", ~expired(Match, boot, seconds))
    )
    return dict(session.execute(playing.group_by(Bot.id, Bot.max_calls)).all())


def _within_calls(session: Session, matches: Sequence[Match], left: dict[str, int]) -> list[Match]:
    """Those of the matches, in order, that their bots can take together."""
    wanted: dict[str, Counter[str]] = {match.id: Counter() for match in matches}
    query = select(MatchSeat.match_id, Bot.id, Bot.max_calls).join(Bot, Bot.id == MatchSeat.bot_id)
    most: dict[str, int] = {}
    for match_id, bot_id, max_calls in session.execute(query.where(MatchSeat.match_id.in_(list(wanted)))):
        wanted[match_id][bot_id] += 1
        most[bot_id] = max_calls
    chosen = []
    for match in matches:
        calls = wanted[match.id]
        # A bot in more seats of one table than it takes calls could else never play; its runner asks in turn.
        if all(left.get(bot, most[bot]) >= min(seats, most[bot]) for bot, seats in calls.items()):
            chosen.append(match)
            left |= {bot: left.get(bot, most[bot]) - seats for bot, seats in calls.items()}
    return chosen


def _take(session: Session, matches: Sequence[Match], boot: str, seconds: float, alone: bool) -> list[Claim]:
    fresh = [match.id for match in matches if match.started_at is None]
    moment = now(session)
    for match in matches:
        if match.status == "running" and match.lease_boot == boot:
            match.lost_claims += 1
        match.status = "running"
        match.epoch += 1
        match.lease_boot, match.lease_until = boot, seconds + LEASE_S
        match.claims_without_progress += alone
        match.started_at = match.started_at or moment
    _keep_addresses(session, fresh)
    session.flush()
    return [Claim(match.id, match.epoch) for match in matches]


def _keep_addresses(session: Session, match_ids: Sequence[str]) -> None:
    """Matches keep the addresses, names and versions they begin with."""
    begun = select(MatchSeat.match_id, MatchSeat.seat, Bot.name, Bot.version, Bot.proven_url)
    begun = begun.join(Bot, Bot.id == MatchSeat.bot_id).where(MatchSeat.match_id.in_(match_ids))
    values = [
        {"match_id": match_id, "seat": seat, "bot_name": name, "version": version, "url": url}
        for match_id, seat, name, version, url in session.execute(begun)
    ]
    if values:
        session.execute(update(MatchSeat), values)


def _prolong(session: Session, match_ids: set[str], boot: str, seconds: float) -> None:
    if match_ids:
        held = {"lease_boot": boot, "lease_until": seconds + LEASE_S}
        session.execute(update(Match).where(Match.id.in_(match_ids)).values(held))
