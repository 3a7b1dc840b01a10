"""Decide who may ask for the void of a match. ``referee.workflows.void_proposals`` decides who voids it."""

from api.auth import current_account
from api.views import current_session
from referee.accounts.roles import Role
from referee.matches.tables import StoredMatch
from referee.tournaments import tournaments


def may_void(match: StoredMatch) -> bool:
    """Return whether the caller created the match, runs its tournament, or is the operator."""
    if current_account().role == Role.ADMIN:
        return True
    if match.tournament_id is not None:
        return tournaments.get_tournament(current_session(), match.tournament_id).created_by == current_account().id
    return match.created_by == current_account().id
