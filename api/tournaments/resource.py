"""Draft, edit, open, start, pause, cancel and list tournaments over HTTP."""

from typing import Any

from flask import current_app

from api import etags
from api.auth import account, anyone, current_account, may_organise, viewer
from api.extended import Extended
from api.matches.presentation import visible_matches
from api.matches.schemas import MatchView
from api.tournaments import schemas
from api.tournaments.access import get_managed_tournament, get_visible_tournament, record_act
from api.tournaments.presentation import attach_progress, editable_terms
from api.views import Resource, View, current_session, master_key
from referee.accounts.act_kinds import ActKind
from referee.accounts.scopes import Scope
from referee.db.paging import Page
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.matches.lists.match_filters import MatchFilter
from referee.tournaments import editing, lifecycle, starting, tournaments
from referee.tournaments.tables import Tournament
from referee.tournaments.terms import ANNOUNCEMENT, Fixed, list_changeable
from referee.workflows.voids import tournament_cancellation

resource = Resource("tournaments", "/api/v1/tournaments", "Tournaments: many matches with common standings.")


@resource.post("", account, schemas.WholeTournamentView, body=schemas.NewTournament, status=201, scope=Scope.ORGANISE)
def draft(new: dict[str, Any]) -> Any:
    """Draft a tournament

    Bots can be entered once the tournament is open. Terms that are left out get their default values; `format_options`
    is returned in full. An account without the role of an organiser may create private tournaments: `rated` and
    `listed` are false, at most 50 entries, 2 cycles, 5 s per decision and 60 s of bank; the operator sets how many.
    """
    terms = {**new, "limits": Limits(**new.pop("time")), "created_by": current_account().id}
    del terms["time"]
    if may_organise():
        drafted = lifecycle.draft(current_session(), **terms)
    else:
        quota = current_app.config["SETTINGS"].private_tournaments
        drafted = lifecycle.draft_private(current_session(), quota=quota, **terms)
    return _record(ActKind.TOURNAMENT_DRAFTED, drafted, name=drafted.name)


@resource.get("", anyone, items=schemas.TournamentView, query=schemas.TournamentQuery)
def list_tournaments(query: dict[str, Any]) -> Any:
    """List tournaments, newest first

    Unlisted tournaments are in the lists of those who run them only.
    """
    return tournaments.list_tournaments(current_session(), viewer=viewer(), **query)


@resource.get('/<id("trn"):tournament_id>', anyone, schemas.WholeTournamentView)
def show(tournament_id: str) -> Any:
    """Get a tournament: its terms and its progress

    Progress counts matches; the end is estimated from the durations of the last ones. `draw`, the seed of all random
    decisions, is shown when the tournament is over, so that anyone can repeat the pairings. The ETag stays valid for an
    edit until a term changes.
    """
    tournament = get_visible_tournament(tournament_id)
    etags.split_etag(editable_terms(tournament))
    return attach_progress(tournament)


def _name_terms(view: View) -> View:
    """Name in the description of a view the terms that can be changed while bots are entered."""
    *names, last = (f"`{name}`" for name in list_changeable(Fixed.START) if name not in ANNOUNCEMENT)
    view.__doc__ = (view.__doc__ or "").replace("TERMS", f"{', '.join(names)} and {last}")
    return view


@resource.patch(
    '/<id("trn"):tournament_id>',
    account,
    schemas.WholeTournamentView,
    body=schemas.TournamentChanges,
    scope=Scope.ORGANISE,
)
@_name_terms
def edit(changes: dict[str, Any], tournament_id: str) -> Any:
    """Change a draft, or what may still be changed later

    In a draft, all terms except the game can be changed; a new format begins with its own default options. An open
    tournament without entries is changed like a draft, except `listed`. Once a bot is entered or asks to enter,
    TERMS
    can still be changed; owners of entered bots are notified (`tournament.changed`). A new `starts_at` also follows a
    missed start; null is a manual start. Until the end, `description`, `link`, `contact`, `prizes` and the
    `round_times` of rounds that have not begun can be changed.
    """
    tournament = get_managed_tournament(tournament_id)
    etags.require_edited_match(editable_terms(tournament))
    if "time" in changes:
        changes["limits"] = Limits(**changes.pop("time"))
    edited = editing.edit(current_session(), tournament_id, revision=tournament.revision, **changes)
    record_act(ActKind.TOURNAMENT_EDITED, edited, changed=sorted(changes))
    etags.split_etag(editable_terms(edited))
    return attach_progress(edited)


@resource.delete('/<id("trn"):tournament_id>', account, scope=Scope.ORGANISE)
def delete(tournament_id: str) -> None:
    """Delete a draft

    A tournament that was open once is cancelled instead.
    """
    tournament = get_managed_tournament(tournament_id)
    record_act(ActKind.TOURNAMENT_DELETED, tournament, name=tournament.name)
    lifecycle.delete_draft(current_session(), tournament.id)


def _record(kind: ActKind, tournament: Tournament, **more: Any) -> Extended:
    """Record an act of the caller, and return the tournament as it is now."""
    record_act(kind, tournament, **more)
    return attach_progress(tournament)


@resource.post('/<id("trn"):tournament_id>/open', account, schemas.WholeTournamentView, scope=Scope.ORGANISE)
def open_entries(tournament_id: str) -> Any:
    """Open a draft for entries

    Bots can then be entered, and guests of the tournament are notified. Only its organisers and the operator may do
    this. If it is not a draft, the response is a 409.
    """
    changed = lifecycle.open_entries(current_session(), get_managed_tournament(tournament_id).id)
    return _record(ActKind.TOURNAMENT_OPENED, changed)


@resource.post(
    '/<id("trn"):tournament_id>/start', account, schemas.WholeTournamentView, wakes_runner=True, scope=Scope.ORGANISE
)
def start(tournament_id: str) -> Any:
    """Close the entries and start

    First every bot is called (preflight), which takes at most about a minute. A bot that does not answer is absent: it
    sits out, or a substitute plays for it. Then the first round is paired. If too few or too many bots can play, the
    response is a 422 that names `entries`.
    """
    changed = starting.start(current_session(), get_managed_tournament(tournament_id).id)
    return _record(ActKind.TOURNAMENT_STARTED, changed)


@resource.post('/<id("trn"):tournament_id>/pause', account, schemas.WholeTournamentView, scope=Scope.ORGANISE)
def pause(tournament_id: str) -> Any:
    """Pause a tournament: no further match begins

    Matches in progress are played to the end. Only its organisers and the operator may do this. If the tournament is
    not running, the response is a 409.
    """
    changed = lifecycle.pause(current_session(), get_managed_tournament(tournament_id).id)
    return _record(ActKind.TOURNAMENT_PAUSED, changed)


@resource.post(
    '/<id("trn"):tournament_id>/resume', account, schemas.WholeTournamentView, wakes_runner=True, scope=Scope.ORGANISE
)
def resume(tournament_id: str) -> Any:
    """Resume a paused tournament

    Its waiting matches are played. Only its organisers and the operator may do this. If the tournament is not paused,
    the response is a 409.
    """
    changed = lifecycle.resume(current_session(), get_managed_tournament(tournament_id).id)
    return _record(ActKind.TOURNAMENT_RESUMED, changed)


@resource.post(
    '/<id("trn"):tournament_id>/cancel',
    account,
    schemas.WholeTournamentView,
    body=schemas.CancelTournament,
    scope=Scope.ORGANISE,
)
def cancel(wish: dict[str, Any], tournament_id: str) -> Any:
    """Cancel a tournament

    Finished matches keep their results; all other matches are cancelled. A draft is deleted instead.
    """
    tournament_id = get_managed_tournament(tournament_id).id
    cancelled = tournament_cancellation.cancel_tournament(
        current_session(), tournament_id, master_key=master_key(), reason=wish["reason"]
    )
    return _record(ActKind.TOURNAMENT_CANCELLED, cancelled, reason=wish["reason"])


@resource.get('/<id("trn"):tournament_id>/matches', anyone, items=MatchView)
def list_matches(query: dict[str, Any], tournament_id: str) -> Any:
    """List the matches of a tournament, newest first

    The bots of rated matches that are not over are hidden if the tournament is `anonymous`, unless you are an
    organiser. A page has up to 50 matches, or `limit`.
    """
    tournament = get_visible_tournament(tournament_id)
    found = matches.list_matches(current_session(), MatchFilter(tournament_id=tournament.id), **query)
    return Page(visible_matches(found.items), found.next)
