"""Cancel a tournament: end its matches, and close or void the deal groups that are being played."""

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session

from referee.db.engine import count_changed_rows, current_time
from referee.db.leases import revocation_values
from referee.errors import Conflict
from referee.events import TournamentCancelled
from referee.matches import cancelling
from referee.matches.logs import logs
from referee.matches.queue import queued_seats
from referee.matches.states import OPEN, DealSharing, MatchState
from referee.matches.tables import DealGroup, StoredMatch
from referee.tournaments import lifecycle, starting, tournaments
from referee.tournaments.states import UNFINISHED, TournamentState
from referee.tournaments.tables import Tournament
from referee.workflows.ending import deal_group_closing
from referee.workflows.voids import voiding


def cancel_tournament(
    session: Session, tournament_id: str, *, master_key: bytes, reason: str | None = None
) -> Tournament:
    """End a tournament early. Matches that are over keep their results.

    Raise ``NotFound`` if there is no such tournament, and ``Conflict`` if it has ended or is a draft, which a
    cancellation would make public.
    """
    tournament = tournaments.lock_in_state(session, tournament_id, *UNFINISHED)
    if tournament.status == TournamentState.DRAFT:
        raise Conflict("The tournament is a draft, which nobody else has seen. Delete it instead.")
    moment = current_time(session)
    tournament.status, tournament.status_reason, tournament.finished_at = TournamentState.CANCELLED, reason, moment
    tournament.preflight_until = None
    _cancel_running_groups(session, tournament, master_key)
    cancelling.cancel_unstarted(session, StoredMatch.tournament_id == tournament_id, "tournament_cancelled")
    starting.notify_participants(session, tournament, TournamentCancelled, reason=reason)
    return lifecycle.mark_changed(session, tournament)


def _cancel_running_groups(session: Session, tournament: Tournament, master_key: bytes) -> None:
    """Cancel the matches that have started, and close their deal groups.

    The results of such a group remain valid, except in a duplicate group, where the same bots play the same cards
    again. Such results count together or not at all, so the group's finished matches are voided.
    """
    in_tournament = StoredMatch.tournament_id == tournament.id
    half_played = select(StoredMatch.group_id).where(in_tournament, StoredMatch.started_at.is_not(None))
    is_half_played = and_(DealGroup.kind == DealSharing.DUPLICATE, DealGroup.id.in_(half_played))
    has_started = or_(StoredMatch.started_at.is_not(None), is_half_played)
    query = select(StoredMatch.id, StoredMatch.group_id, DealGroup.kind).join(
        DealGroup, DealGroup.id == StoredMatch.group_id
    )
    query = query.where(in_tournament, has_started, StoredMatch.status.in_(OPEN))
    groups_left: dict[str, DealSharing] = {}
    for match_id, group_id, kind in session.execute(query.order_by(StoredMatch.id)).all():
        groups_left[group_id] = kind
        if kind != DealSharing.DUPLICATE:
            _cancel_match(session, match_id)
    for group_id, kind in sorted(groups_left.items()):
        if kind == DealSharing.DUPLICATE:
            voiding.cancel_group(session, group_id, "tournament_cancelled", created_by=None, master_key=master_key)
        else:
            deal_group_closing.close_if_over(session, group_id, master_key=master_key)


def _cancel_match(session: Session, match_id: str) -> None:
    cancelled = {"status": MatchState.CANCELLED, "reason": "tournament_cancelled", "finished_at": current_time(session)}
    statement = (
        update(StoredMatch)
        .where(StoredMatch.id == match_id, StoredMatch.status.in_(OPEN))
        .values(**cancelled, **revocation_values(StoredMatch))
    )
    if count_changed_rows(session, statement):  # otherwise the match has ended meanwhile
        queued_seats.remove_from_queue(session, [match_id])
        logs.pack_partial_log(session, match_id)
