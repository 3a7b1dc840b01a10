"""Decide who may ask for the void of a match, and record acts on matches. ``void_proposals`` decides who voids it."""

from typing import Any

from api.auth import current_account, may_organise
from api.views import current_session
from referee.accounts import acts
from referee.accounts.act_kinds import ActKind
from referee.accounts.roles import Role
from referee.matches import matches
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


def record_act(kind: ActKind, match_id: str, **more: Any) -> None:
    """Record an act of the caller on a match."""
    tournament_id = matches.get_match(current_session(), match_id).tournament_id
    acts.record_act(current_session(), current_account(), kind, match_id, tournament_id=tournament_id, **more)
