"""Claim matches for runners. A claim is a lease with an epoch, and every later write carries the epoch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, case, exists, func, or_, select, update
from sqlalchemy.orm import Session

from referee.bots import checks, handshakes
from referee.bots.tables import Bot
from referee.db.engine import current_time, lease_now, take_advisory_lock
from referee.db.leases import Fence, Leases, revocation_values
from referee.db.prepared import Prepared
from referee.matches import match_queue
from referee.matches.match_queue import LOST_BEFORE_ISOLATED as LOST_BEFORE_ISOLATED
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, StoredMatch

CLAIMS_BEFORE_STUCK: Final = 5
ISOLATED_LISTED: Final = 20
LEASES: Final = Leases(StoredMatch, lost="lost_claims")

_MATCHES, _SEATS, _BOTS = (model.__table__ for model in (StoredMatch, MatchSeat, Bot))
_M = _MATCHES.c


class Claim(NamedTuple):
    """Represent a claim on a match. It is valid as long as the match has this epoch."""

    match_id: str
    epoch: int


def claim_matches(
    session: Session, limit: int, *, isolated: bool = False, match_id: str | None = None, friendlies: int | None = None
) -> list[Claim]:
    """Claim up to ``limit`` matches that are due or lost their runner, in the order of ``select_matches``.

    Each match is claimed by one caller only. The matches of a duplicate group are claimed together, even if they exceed
    ``limit``.

    A match whose claim was lost twice is claimed only with ``isolated=True``, and becomes stuck after five such claims
    that recorded no row. No bot plays more matches at a time than it accepts concurrent calls. ``friendlies`` limits
    how many friendlies of one account are in progress, but not with ``isolated=True``. With ``match_id``, claim
    only this match and those that must be claimed with it.
    """
    take_advisory_lock(session, "claims")  # so that concurrent claims cannot exceed the calls a bot accepts
    boot, seconds = lease_now(session)
    if isolated:
        _mark_stuck(session, boot, seconds)
        units = match_queue.select_isolated_matches(session, boot, seconds, limit, match_id=match_id)
    else:
        units = match_queue.select_matches(session, boot, seconds, limit, match_id=match_id, friendlies=friendlies)
    return _claim_units(session, units, boot, seconds, isolated)


def renew_claims(session: Session, claims: Iterable[Claim]) -> set[str]:
    """Renew claims. Return the ids of the matches whose claims are still valid."""
    return LEASES.renew(session, claims)


def release_claims(session: Session, claims: Iterable[Claim]) -> int:
    """Release claims, so that the matches are due immediately. Return the number of released claims.

    Claims that are no longer valid are ignored. A released claim does not count as lost, nor as one without progress.
    """
    idle = _M.claims_without_progress
    return LEASES.release(session, claims, claims_without_progress=case((idle > 0, idle - 1), else_=0))


def expire_claims(session: Session, claims: Iterable[Fence]) -> int:
    """Let the leases of a runner that died expire now, so that others take over its matches. Return their number.

    A match that was lost so often that it is played alone keeps its lease: it may be what kills the runners, and the
    pause lets a temporary problem of the host, such as a lack of memory, pass before the match becomes stuck.
    """
    return LEASES.expire(session, claims, _M.lost_claims < LOST_BEFORE_ISOLATED)


@dataclass(frozen=True, slots=True)
class DueWork:
    """Describe the work that is due. A claimed match whose lease expired is due again.

    ``isolated`` lists the oldest matches that need their own process, at most ``ISOLATED_LISTED``.
    """

    matches_due: bool
    bots_due: bool  # whether handshakes or checks are due
    isolated: list[str]


def find_due_work(session: Session) -> DueWork:
    """Return what is due: the scheduler wakes runners for it, and runners decide what to claim.

    The cost does not depend on how much is due, since runners ask several times a second.
    """
    boot, seconds = lease_now(session)
    lease = {"boot": boot, "seconds": seconds}
    ((matches_due, bots_due),) = _ANYTHING_DUE.rows(session, lease)
    alone = [(created_at, match_id) for wanted in _ISOLATED for match_id, created_at in wanted.rows(session, lease)]
    return DueWork(matches_due, bots_due, [match_id for _, match_id in sorted(alone)[:ISOLATED_LISTED]])


def _mark_stuck(session: Session, boot: str, seconds: float) -> None:
    tried = _M.claims_without_progress >= CLAIMS_BEFORE_STUCK
    for wanted in match_queue.isolated_match_queries(boot, seconds):
        session.connection().execute(
            update(_MATCHES)
            .where(_M.id.in_(wanted.with_only_columns(_M.id)), tried)
            .values(
                status=MatchState.STUCK,
                reason=f"{CLAIMS_BEFORE_STUCK} claims recorded nothing",
                **revocation_values(StoredMatch),
            )
        )


def _claim_units(
    session: Session, units: Sequence[Sequence[str]], boot: str, seconds: float, isolated: bool
) -> list[Claim]:
    """Claim, in order, the units of which no match is locked by another transaction: all matches of a unit or none."""
    if not units:
        return []
    wanted = select(_M.id, _M.started_at).where(_M.id.in_([match_id for unit in units for match_id in unit]))
    free = wanted.where(LEASES.is_claimable(boot, seconds)).order_by(_M.id).with_for_update(skip_locked=True)
    started = {row.id: row.started_at for row in session.execute(free)}
    match_ids = [match_id for unit in units if started.keys() >= set(unit) for match_id in unit]
    _store_addresses(session, [match_id for match_id in match_ids if started[match_id] is None])
    counts = {"claims_without_progress": _M.claims_without_progress + int(isolated)}
    moment = func.coalesce(_M.started_at, current_time(session))
    epochs = LEASES.claim_keys(session, match_ids, boot, seconds, **counts, started_at=moment)
    return [Claim(match_id, epochs[match_id]) for match_id in match_ids]


def _store_addresses(session: Session, match_ids: Sequence[str]) -> None:
    """Store the addresses, names and versions that these matches start with."""
    if not match_ids:
        return
    bot_columns = {"bot_name": _BOTS.c.name, "version": _BOTS.c.version, "url": _BOTS.c.verified_url}
    values = {
        name: select(column).where(_BOTS.c.id == _SEATS.c.bot_id).scalar_subquery()
        for name, column in bot_columns.items()
    }
    session.connection().execute(update(_SEATS).where(_SEATS.c.match_id.in_(match_ids)).values(values))


_BOOT: Final[Any] = bindparam("boot")
_SECONDS: Final[Any] = bindparam("seconds")
_DUE_CONDITIONS: Final[list[Any]] = [
    or_(exists().where(match_queue.DUE), exists().where(match_queue.has_lost_claim(_BOOT, _SECONDS))),
    or_(*(exists().where(leases.is_claimable(_BOOT, _SECONDS)) for leases in (handshakes.LEASES, checks.LEASES))),
]
_ANYTHING_DUE: Final = Prepared(select(*_DUE_CONDITIONS))
_ISOLATED: Final = [
    Prepared(wanted.order_by(_M.created_at, _M.id).limit(ISOLATED_LISTED))
    for wanted in match_queue.isolated_match_queries(_BOOT, _SECONDS)
]
