"""Void matches that were played but must not count.

Nothing is deleted: log, result and placements stay readable and are marked by the match's status and reason.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.db.names import make_storable
from referee.errors import BadOption, Conflict, NotFound
from referee.ladders import ledger
from referee.matches import voids
from referee.matches.logs import logs
from referee.matches.queue import queued_seats
from referee.matches.states import OPEN, DealSharing, MatchState, VoidState
from referee.matches.tables import DealGroup, Result, StoredMatch
from referee.matches.voids import VoidRequest
from referee.tournaments.states import IN_PROGRESS
from referee.tournaments.tables import Tournament
from referee.workflows.ending import deal_group_closing
from referee.workflows.voids import rematches

MAX_REASON_LENGTH = 500  # characters


@dataclass
class VoidReport:
    """List the ids of voided and cancelled matches and of their rematches, and the numbers of new ledger entries."""

    matches: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    rematches: list[str] = field(default_factory=list)
    entry_seqs: list[int] = field(default_factory=list)

    def extend(self, other: "VoidReport") -> None:
        self.matches += other.matches
        self.cancelled += other.cancelled
        self.rematches += other.rematches
        self.entry_seqs += other.entry_seqs


def void_match(
    session: Session, wanted: VoidRequest, *, created_by: str | None, master_key: bytes, recorded: bool = False
) -> VoidReport:
    """Void a finished or stuck match. With ``rematch``, create a match with fresh cards in its place.

    ``rematch`` None creates one in a tournament, if one is possible. Unless the void is ``recorded`` already,
    record it in ``voids`` if the match had been played to its end.

    With ``whole_group``, which duplicate groups require, void all finished matches of the deal group and cancel its
    open ones, with the same reason. With both, all of them get rematches. Raise ``NotFound``, ``BadOption`` for a
    reason that is missing or too long, and ``Conflict`` for a match in another state, for a duplicate group without
    ``whole_group``, and for a rematch that is impossible because the tournament is over, the bracket has advanced,
    the match was replaced once already, or a bot withdrew or cannot play.
    """
    tournament, matches, kind = lock_matches_to_void(session, wanted)
    obstacle = rematches.find_obstacle(session, tournament, matches)
    if wanted.rematch and obstacle:
        raise Conflict(obstacle)
    played = [match.id for match in matches if match.status == MatchState.FINISHED]
    done = _end_matches(session, matches, wanted.reason, created_by, master_key, void_stuck=True)
    if played and not recorded:
        voids.record_void(session, wanted, VoidState.CONFIRMED, account_id=created_by)
    replaced = [match for match in matches if match.id in (*done.matches, *done.cancelled)]
    if wanted.rematch:
        done.rematches = rematches.create_rematches(session, replaced, kind, tournament, master_key)
    elif wanted.rematch is None and obstacle is None and tournament is not None:
        with suppress(Conflict):  # raised before anything is written
            done.rematches = rematches.create_rematches(session, replaced, kind, tournament, master_key)
    return done


def lock_matches_to_void(
    session: Session, wanted: VoidRequest
) -> tuple[Tournament | None, list[StoredMatch], DealSharing]:
    """Lock the tournament and the matches that a void concerns; return them and how they share their cards.

    Everything that voids matches or decides about it takes these locks first, in this order, to prevent deadlocks.
    Raise ``NotFound``, ``BadOption`` and ``Conflict`` as ``void_match`` does.
    """
    _check_reason(wanted.reason)
    group_id = session.scalar(select(StoredMatch.group_id).where(StoredMatch.id == wanted.match_id))
    if group_id is None:
        raise NotFound("match", wanted.match_id)
    tournament = _lock_tournament(session, group_id)
    counted = select(DealGroup.kind, func.count()).join(StoredMatch, StoredMatch.group_id == DealGroup.id)
    kind, count = session.execute(counted.where(DealGroup.id == group_id).group_by(DealGroup.kind)).one()
    if kind == DealSharing.DUPLICATE and count > 1 and not wanted.whole_group:
        raise Conflict(f"The match is one of {count} that share cards and bots; void them all with whole_group.")
    matches = _lock_matches(session, group_id, None if wanted.whole_group else wanted.match_id)
    (asked,) = (match for match in matches if match.id == wanted.match_id)
    if asked.status not in (MatchState.FINISHED, MatchState.STUCK):
        raise Conflict(f"The match is {asked.status}; only finished or stuck matches can be voided.")
    return tournament, matches, kind


def lock_group(session: Session, group_id: str, match_id: str | None) -> list[StoredMatch]:
    """Lock the tournament of a deal group, then its matches or one of them, and return these."""
    _lock_tournament(session, group_id)
    return _lock_matches(session, group_id, match_id)


def counts_somewhere(match: StoredMatch) -> bool:
    """Return whether the match is finished and its result counts on a ladder or in a tournament."""
    counted = match.rated or match.tournament_id is not None or match.ladder_id is not None
    return match.status == MatchState.FINISHED and counted


def cancel_group(
    session: Session,
    group_id: str,
    reason: str,
    *,
    created_by: str | None,
    master_key: bytes,
    keep_results: bool = False,
) -> VoidReport:
    """End a whole deal group: cancel its open matches and void its finished ones.

    With ``keep_results``, raise ``Conflict`` if a result that counts would be voided.
    """
    matches = lock_group(session, group_id, None)
    if keep_results and (finished := [match.id for match in matches if counts_somewhere(match)]):
        raise Conflict(
            f"{finished[0]} shares these cards and has ended. Propose to void it with whole_group, which also cancels "
            "this match once a second account has confirmed it."
        )
    done = _end_matches(session, matches, reason, created_by, master_key)
    _record_group(session, matches, done, reason, created_by)
    return done


def cancel_all_open(session: Session, reason: str, *, master_key: bytes) -> VoidReport:
    """Cancel every match that is not over, and create rematches with fresh cards in tournaments.

    A duplicate group is replaced as a whole: its finished matches are voided. No rematch is created outside
    tournaments, or if a bot at the table can no longer play.
    """
    query = select(DealGroup.id, DealGroup.kind, StoredMatch.id).join(StoredMatch, StoredMatch.group_id == DealGroup.id)
    rows = session.execute(query.where(StoredMatch.status.in_(OPEN)).order_by(DealGroup.id)).all()
    match_ids_by_group: dict[tuple[str, DealSharing], set[str]] = {}
    for group_id, kind, match_id in rows:
        match_ids_by_group.setdefault((group_id, kind), set()).add(match_id)
    done = VoidReport()
    for (group_id, kind), match_ids in match_ids_by_group.items():
        tournament = _lock_tournament(session, group_id)
        matches = _lock_matches(session, group_id, None)
        ended = [match for match in matches if kind == DealSharing.DUPLICATE or match.id in match_ids]
        ended = [match for match in ended if match.status in (*OPEN, MatchState.FINISHED)]
        voided = _end_matches(session, ended, reason, None, master_key)
        _record_group(session, ended, voided, reason, None)
        done.extend(voided)
        if tournament is not None and tournament.status in IN_PROGRESS:
            with suppress(Conflict):  # raised before anything is written
                done.rematches += rematches.create_rematches(session, ended, kind, tournament, master_key)
    return done


def cancel_matches(session: Session, match_ids: Sequence[str], reason: str, *, master_key: bytes) -> VoidReport:
    """Cancel those of these matches that are open, and close their deal groups that are over."""
    is_open = StoredMatch.id.in_(match_ids), StoredMatch.status.in_(OPEN)
    locked = select(StoredMatch).where(*is_open).order_by(StoredMatch.id).with_for_update()
    matches = session.scalars(locked.execution_options(populate_existing=True)).all()
    return _end_matches(session, matches, reason, None, master_key)


def _check_reason(reason: str) -> None:
    if not reason.strip() or len(reason) > MAX_REASON_LENGTH or reason != make_storable(reason):
        raise BadOption("reason", f"must be 1 to {MAX_REASON_LENGTH} printable characters")


def _lock_tournament(session: Session, group_id: str) -> Tournament | None:
    """Lock the tournament of the group and mark it as changed. A tournament is always locked before its matches."""
    query = select(Tournament).join(DealGroup, DealGroup.tournament_id == Tournament.id).where(DealGroup.id == group_id)
    tournament = session.scalar(query.with_for_update(of=Tournament).execution_options(populate_existing=True))
    if tournament is not None:
        tournament.revision += 1
    return tournament


def _lock_matches(session: Session, group_id: str, match_id: str | None) -> list[StoredMatch]:
    """Lock and reread the matches of a group, or one of them, in id order to prevent deadlocks."""
    query = select(StoredMatch).where(StoredMatch.group_id == group_id)
    if match_id is not None:
        query = query.where(StoredMatch.id == match_id)
    locked = query.order_by(StoredMatch.id).with_for_update().execution_options(populate_existing=True)
    return list(session.scalars(locked))


def _end_matches(
    session: Session,
    matches: Sequence[StoredMatch],
    reason: str,
    created_by: str | None,
    master_key: bytes,
    *,
    void_stuck: bool = False,
) -> VoidReport:
    """Void or cancel matches, void their results on ladders, and close the deal groups that are over as a result."""
    ledger.lock_ledger(session)
    done, moment = VoidReport(), current_time(session)
    for match in matches:
        if match.status == MatchState.FINISHED or (match.status == MatchState.STUCK and void_stuck):
            done.matches.append(match.id)
            _set_ended(session, match, MatchState.VOID, reason, moment)
        elif match.status in OPEN:
            done.cancelled.append(match.id)
            _set_ended(session, match, MatchState.CANCELLED, reason, moment)
    session.flush()
    queued_seats.remove_from_queue(session, done.cancelled)
    if done.matches:
        voids.supersede(session, done.matches)
    results = select(Result).where(Result.match_id.in_(done.matches), Result.ladder_id.is_not(None))
    for result in session.scalars(results.order_by(Result.seq)).all():
        done.entry_seqs.append(
            ledger.void_result(session, str(result.ladder_id), result.match_id, reason, created_by=created_by)
        )
    for group_id in {match.group_id for match in matches}:
        deal_group_closing.close_if_over(session, group_id, master_key=master_key)
    return done


def _set_ended(session: Session, match: StoredMatch, status: MatchState, reason: str, moment: datetime) -> None:
    played = match.status == MatchState.FINISHED
    match.status, match.reason = status, reason
    if not played:
        match.finished_at = moment
        match.revoke_claim()
        logs.pack_partial_log(session, match.id)


def _record_group(
    session: Session, matches: Sequence[StoredMatch], done: VoidReport, reason: str, created_by: str | None
) -> None:
    """Record that the finished matches of a group were voided. Its stuck ones were cancelled."""
    if done.matches:
        wanted = VoidRequest(done.matches[0], reason, whole_group=len(matches) > 1, rematch=False)
        voids.record_void(session, wanted, VoidState.CONFIRMED, account_id=created_by)
