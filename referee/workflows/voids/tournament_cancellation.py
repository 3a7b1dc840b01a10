"""Cancel a tournament: end its matches, and close or void the deal groups that are being played."""

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.errors import Conflict
from referee.events import TournamentCancelled
from referee.matches import cancelling
from referee.matches.states import OPEN, DealSharing
from referee.matches.tables import DealGroup, StoredMatch
from referee.tournaments import lifecycle, starting, tournaments
from referee.tournaments.states import UNFINISHED, TournamentState
from referee.tournaments.tables import Tournament
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
    rows = session.execute(query.order_by(StoredMatch.id)).all()
    alone = [match_id for match_id, _, kind in rows if kind != DealSharing.DUPLICATE]
    voiding.cancel_matches(session, alone, "tournament_cancelled", master_key=master_key)
    for group_id in sorted({group_id for _, group_id, kind in rows if kind == DealSharing.DUPLICATE}):
        voiding.cancel_group(session, group_id, "tournament_cancelled", created_by=None, master_key=master_key)
