"""Draft, open, pause and resume tournaments at the request of their organisers."""

from typing import Any, Final

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from referee.errors import Forbidden
from referee.matches.queue.queued_seats import refresh_queue
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from referee.tournaments import admission, tournaments
from referee.tournaments.private import check_private_terms, complete_private_terms
from referee.tournaments.requested_terms import Terms
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Invitation, Tournament, TournamentGuest, TournamentOrganiser

_UNCLAIMED: Final = {TournamentState.RUNNING: MatchState.DUE, TournamentState.PAUSED: MatchState.WAITING}


def draft(session: Session, name: str, *, created_by: str, **terms: Any) -> Tournament:
    """Create a tournament that is not open for entries yet. See ``create_tournament`` for parameters and errors."""
    return tournaments.create_tournament(session, name, created_by=created_by, status=TournamentState.DRAFT, **terms)


def draft_private(session: Session, name: str, *, created_by: str, quota: int, **terms: Any) -> Tournament:
    """Create a draft for an account without the role of an organiser, which may have ``quota`` unfinished ones.

    Raise ``Forbidden`` for a rated or listed tournament or if the quota is 0, and as ``draft`` does.
    """
    if quota == 0:
        raise Forbidden("Only organisers create tournaments on this service. Ask for the role on the page /organise.")
    private_terms = complete_private_terms(terms)
    check_private_terms(Terms(name=name, **private_terms).columns())
    return draft(session, name, created_by=created_by, quota=quota, **private_terms)


def open_entries(session: Session, tournament_id: str) -> Tournament:
    """Open a draft for entries, and notify its guests."""
    tournament = tournaments.lock_in_state(session, tournament_id, TournamentState.DRAFT)
    tournament.status = TournamentState.OPEN
    tournaments.make_searchable(session, tournament)
    guests = admission.load_admission(session, tournament).guests
    admission.notify_guests(session, tournament, {guest.id for guest in guests})
    return mark_changed(session, tournament)


def pause(session: Session, tournament_id: str) -> Tournament:
    """Pause a running tournament. Running matches are played to the end; the others wait."""
    return _change_state(session, tournament_id, TournamentState.RUNNING, TournamentState.PAUSED)


def resume(session: Session, tournament_id: str) -> Tournament:
    """Resume a paused tournament. Its waiting matches become due."""
    return _change_state(session, tournament_id, TournamentState.PAUSED, TournamentState.RUNNING)


def _change_state(session: Session, tournament_id: str, before: TournamentState, after: TournamentState) -> Tournament:
    tournament = tournaments.lock_in_state(session, tournament_id, before)
    tournament.status = after
    of_matches = StoredMatch.tournament_id == tournament.id, StoredMatch.status == _UNCLAIMED[before]
    changed = update(StoredMatch).where(*of_matches).values(status=_UNCLAIMED[after]).returning(StoredMatch.id)
    refresh_queue(session, session.scalars(changed).all())
    return mark_changed(session, tournament)


def delete_draft(session: Session, tournament_id: str) -> None:
    """Delete a tournament that was never open. Raise ``Conflict`` for any other."""
    tournament = tournaments.lock_in_state(session, tournament_id, TournamentState.DRAFT)
    session.execute(delete(TournamentGuest).where(TournamentGuest.tournament_id == tournament_id))
    session.execute(delete(TournamentOrganiser).where(TournamentOrganiser.tournament_id == tournament_id))
    tournaments.hide_invitations(session, Invitation.object_id == tournament_id)
    session.delete(tournament)


def mark_changed(session: Session, tournament: Tournament) -> Tournament:
    tournament.revision += 1
    session.flush()
    return tournament
