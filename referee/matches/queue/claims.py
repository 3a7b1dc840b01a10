"""Claim matches for runners. A claim is a lease with an epoch, and every later write carries the epoch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, case, exists, func, or_, select, update
from sqlalchemy.orm import Session

from referee.bots import checks, handshakes
from referee.bots.tables import Bot
from referee.db.engine import current_time, lease_now, take_advisory_lock
from referee.db.leases import Fence, Leases, revocation_values
from referee.db.prepared import Prepared
from referee.match.canonical import Json
from referee.matches.queue import match_queue, queued_seats
from referee.matches.queue.capacity import ClaimCapacity, ClaimUnit, load_capacity
from referee.matches.queue.match_queue import LOST_BEFORE_ISOLATED as LOST_BEFORE_ISOLATED
from referee.matches.queue.shares import Lane, Pool
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


class ClaimedMatch(NamedTuple):
    """Hold a claim with what it uses until the match ends: a place of its lane, and requests of these bots."""

    claim: Claim
    lane: Lane
    bots: tuple[str, ...]
    has_replaced_lost: bool = False  # whether the lease of another runner had expired


def claim_found(session: Session, units: Sequence[ClaimUnit], *, slots: Pool | None = None) -> list[ClaimedMatch]:
    """Claim the units that ``match_queue.find_matches`` found earlier, if there is still room for them.

    Each match is claimed by one caller only. The matches of a unit are claimed together or not at all.
    """
    take_advisory_lock(session, "claims")  # so that concurrent claims cannot exceed the requests a bot accepts
    boot, seconds = lease_now(session)
    capacity = load_capacity(session, boot, seconds, slots)
    capacity.load_seats(session, [match_id for unit in units for match_id in unit.match_ids])
    return _claim_units(session, [unit for unit in units if capacity.reserve(unit)], capacity, isolated=False)


def claim_matches(
    session: Session, limit: int, *, match_id: str | None = None, slots: Pool | None = None
) -> list[Claim]:
    """Find and claim up to ``limit`` matches in one transaction. ``match_queue.find_matches`` has the order."""
    take_advisory_lock(session, "claims")
    units = match_queue.find_matches(session, limit, match_id=match_id, slots=slots).units
    return [claimed.claim for claimed in claim_found(session, units, slots=slots)]


def claim_isolated_matches(session: Session, limit: int, *, match_id: str | None = None) -> list[ClaimedMatch]:
    """Claim up to ``limit`` matches of which two claims were lost. Each must be played in a process of its own.

    After five such claims that recorded no row, a match becomes stuck. No share limits them.
    """
    take_advisory_lock(session, "claims")
    boot, seconds = lease_now(session)
    _mark_stuck(session, boot, seconds)
    units = match_queue.find_isolated_matches(session, limit, match_id=match_id)
    capacity = load_capacity(session, boot, seconds)
    capacity.load_seats(session, [match_id for unit in units for match_id in unit.match_ids])
    return _claim_units(session, units, capacity, isolated=True)


def renew_claims(session: Session, claims: Iterable[Claim]) -> set[str]:
    """Renew claims. Return the ids of the matches whose claims are still valid."""
    return LEASES.renew(session, claims)


def release_claims(
    session: Session, claims: Iterable[Claim], *, interrupted: Json | None = None, is_harmless: bool = False
) -> int:
    """Release claims, so that the matches are due immediately. Return the number of released claims.

    Claims that are no longer valid are ignored. A released claim does not count as lost, nor as one without progress.
    ``interrupted`` is stored for the next runner. With ``is_harmless``, matches that recorded rows in a process of
    their own need none any more: they are not what ended their runners.
    """
    idle, released = _M.claims_without_progress, list(claims)
    values: dict[str, Any] = {"claims_without_progress": case((idle > 0, idle - 1), else_=0)}
    if interrupted is not None:
        values["interrupted"] = interrupted
    if is_harmless:
        values["lost_claims"] = case((idle == 0, 0), else_=_M.lost_claims)
    count = LEASES.release(session, released, **values)
    queued_seats.refresh_queue(session, [claim.match_id for claim in released])
    return count


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
    ``newest`` is the creation time of the due match that was created last, or None if there is none.
    """

    matches_due: bool
    bots_due: bool  # whether handshakes or checks are due
    isolated: list[str]
    newest: datetime | None


def find_due_work(session: Session) -> DueWork:
    """Return what is due: the scheduler wakes runners for it, and runners decide what to claim.

    The cost does not depend on how much is due, since runners ask several times a second.
    """
    boot, seconds = lease_now(session)
    lease = {"boot": boot, "seconds": seconds}
    ((matches_due, bots_due, newest),) = _ANYTHING_DUE.rows(session, lease)
    alone = [(created_at, match_id) for wanted in _ISOLATED for match_id, created_at in wanted.rows(session, lease)]
    isolated = [match_id for _, match_id in sorted(alone)[:ISOLATED_LISTED]]
    return DueWork(matches_due, bots_due, isolated, newest)


def _mark_stuck(session: Session, boot: str, seconds: float) -> None:
    tried = _M.claims_without_progress >= CLAIMS_BEFORE_STUCK
    for wanted in match_queue.isolated_match_queries(boot, seconds):
        stuck = list(session.scalars(wanted.with_only_columns(_M.id).where(tried)))
        session.connection().execute(
            update(_MATCHES)
            .where(_M.id.in_(stuck))
            .values(
                status=MatchState.STUCK,
                reason=f"{CLAIMS_BEFORE_STUCK} claims recorded nothing",
                **revocation_values(StoredMatch),
            )
        )
        queued_seats.remove_from_queue(session, stuck)


def _claim_units(
    session: Session, units: Sequence[ClaimUnit], capacity: ClaimCapacity, *, isolated: bool
) -> list[ClaimedMatch]:
    """Claim, in order, the units of which no match is locked by another transaction: all matches of a unit or none."""
    if not units:
        return []
    boot, seconds = lease_now(session)
    # Lock in order of ids, so that two transactions cannot wait for each other.
    wanted = sorted(match_id for unit in units for match_id in unit.match_ids)
    free = _LOCK_FREE.rows_of_each(session, [{"of": match_id, "boot": boot, "seconds": seconds} for match_id in wanted])
    started = {match_id: started_at for rows in free for match_id, started_at, _ in rows}
    lost = {match_id for rows in free for match_id, _, status in rows if status == MatchState.RUNNING}
    claimable = [unit for unit in units if started.keys() >= set(unit.match_ids)]
    lanes = {match_id: unit.lane for unit in claimable for match_id in unit.match_ids}
    _STORE_ADDRESSES.execute_all(session, [{"of": match_id} for match_id in lanes if started[match_id] is None])
    values = {"isolated": int(isolated), "now": current_time(session)}
    epochs = LEASES.claim_keys(session, _CLAIM, list(lanes), boot, seconds, **values)
    queued_seats.remove_from_queue(session, list(lanes))
    return [
        ClaimedMatch(Claim(match_id, epochs[match_id]), lane, tuple(capacity.seats[match_id]), match_id in lost)
        for match_id, lane in lanes.items()
    ]


_BOOT: Final[Any] = bindparam("boot")
_SECONDS: Final[Any] = bindparam("seconds")
_DUE_CONDITIONS: Final[list[Any]] = [
    or_(exists().where(match_queue.DUE), exists().where(match_queue.has_lost_claim(_BOOT, _SECONDS))),
    or_(*(exists().where(leases.is_claimable(_BOOT, _SECONDS)) for leases in (handshakes.LEASES, checks.LEASES))),
]
_NEWEST: Final[Any] = select(func.max(_M.created_at)).where(match_queue.DUE).scalar_subquery()
_ANYTHING_DUE: Final = Prepared(select(*_DUE_CONDITIONS, _NEWEST))
_ISOLATED: Final = [
    Prepared(wanted.order_by(_M.created_at, _M.id).limit(ISOLATED_LISTED))
    for wanted in match_queue.isolated_match_queries(_BOOT, _SECONDS)
]
_LOCK_FREE: Final = Prepared(
    select(_M.id, _M.started_at, _M.status)
    .where(_M.id == bindparam("of"), LEASES.is_claimable(_BOOT, _SECONDS))
    .with_for_update(skip_locked=True)
)
_BOT_COLUMNS: Final = {"bot_name": _BOTS.c.name, "version": _BOTS.c.version, "url": _BOTS.c.verified_url}
_STORE_ADDRESSES: Final = Prepared(  # with which a match starts
    update(_SEATS)
    .where(_SEATS.c.match_id == bindparam("of"))
    .values(
        {
            name: select(column).where(_BOTS.c.id == _SEATS.c.bot_id).scalar_subquery()
            for name, column in _BOT_COLUMNS.items()
        }
    )
)
_CLAIM: Final = LEASES.prepare_claim(
    claims_without_progress=_M.claims_without_progress + bindparam("isolated"),
    started_at=func.coalesce(_M.started_at, bindparam("now", type_=_M.started_at.type)),
)
