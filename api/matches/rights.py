"""Decide who may ask for the void of a match. ``referee.workflows.voids.void_proposals`` decides who voids it."""

from api.auth import current_account, may_organise
from api.views import current_session
from referee.accounts.roles import Role
from referee.matches.tables import StoredMatch
from referee.tournaments import tournaments


def may_void(match: StoredMatch) -> bool:
    """Return whether the caller created the match, runs its tournament, or is the operator."""
    if current_account().role == Role.ADMIN:
        return True
    if match.tournament_id is not None:
        tournament = tournaments.get_tournament(current_session(), match.tournament_id)
        return tournaments.is_manager(current_account(), tournament)
    return may_organise() and match.created_by == current_account().id
