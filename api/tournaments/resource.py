"""Tournaments: announced and run by organisers, watched by everybody. Entries, stages and tables stand beside."""

from typing import Any

from api import etags
from api.auth import asker
from api.matches.schemas import MatchView
from api.pagination import PageQuery, envelope, list_of, read_cursor
from api.presentation import attach_progress, visible_matches
from api.tournaments.schemas import (
    CancelTournament,
    NewTournament,
    TournamentChanges,
    TournamentQuery,
    TournamentView,
    WholeTournamentView,
)
from api.views import Resource, master_key, record
from referee.db.paging import Page
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.tournaments import lifecycle, starting, tournaments
from referee.tournaments.tables import Tournament
from referee.workflows import tournament_cancellation

resource = Resource("tournaments", "/api/v1/tournaments", "Events: many matches that make one table.")


@resource.route("POST")
@resource.organiser
@resource.body(NewTournament)
@resource.idempotent
@resource.response(WholeTournamentView, 201)
def announce(new: dict[str, Any]) -> Any:
    """Draft a tournament

    For organisers. It takes entries once it is opened. Terms that are left out have their usual values, and
    `format_options` comes back complete.
    """
    limits = Limits(**new.pop("time"))
    return attach_progress(lifecycle.draft(record(), new.pop("name"), created_by=asker().id, limits=limits, **new))


@resource.route("GET")
@resource.anyone
@resource.query(TournamentQuery)
@resource.reads
@resource.response(list_of(TournamentView))
def list_tournaments(query: dict[str, Any]) -> Any:
    """Tournaments, the newest first"""
    found = tournaments.list_tournaments(
        record(), status=query.get("status"), game=query.get("game"), limit=query["limit"], cursor=read_cursor(query)
    )
    return envelope(found, query)


@resource.route("GET", '/<id("trn"):tournament_id>')
@resource.anyone
@resource.reads
@resource.response(WholeTournamentView)
def show(tournament_id: str) -> Any:
    """A tournament: its terms, and how far it is

    Progress counts matches; its estimated end goes by the pace of the last ones. `draw`, which decided every lot, is
    told when the event is over, so that anybody can pair it again.
    """
    return attach_progress(tournaments.get_tournament(record(), tournament_id))


@resource.route("PATCH", '/<id("trn"):tournament_id>')
@resource.organiser
@resource.body(TournamentChanges)
@resource.conditional
@resource.writes
@resource.response(WholeTournamentView)
def edit(changes: dict[str, Any], tournament_id: str) -> Any:
    """Change a draft, or the start time of an open tournament

    In a draft, all terms except the game can be changed; a new format begins with its own default options. In an open
    tournament, only `starts_at` can be changed: a new time, even after it missed its start, or null to start it
    manually.
    """
    tournament = get_managed_tournament(tournament_id)
    etags.must_match(WholeTournamentView, attach_progress(tournament))
    if "time" in changes:
        changes["limits"] = Limits(**changes.pop("time"))
    return attach_progress(lifecycle.edit(record(), tournament_id, revision=tournament.revision, **changes))


@resource.route("POST", '/<id("trn"):tournament_id>/open')
@resource.organiser
@resource.idempotent
@resource.response(WholeTournamentView)
def open_entries(tournament_id: str) -> Any:
    """Open a draft for entries"""
    return attach_progress(lifecycle.open_entries(record(), get_managed_tournament(tournament_id).id))


@resource.route("POST", '/<id("trn"):tournament_id>/start')
@resource.organiser
@resource.wakes_runner
@resource.idempotent
@resource.response(WholeTournamentView)
def start(tournament_id: str) -> Any:
    """Close the entries and play

    Every bot is called first (preflight), for a minute or so at most; who does not answer is absent, and sits out or
    is stood in for. Then the first stage is paired. 422 names `entries` when too few, or too many, could play.
    """
    return attach_progress(starting.start(record(), get_managed_tournament(tournament_id).id))


@resource.route("POST", '/<id("trn"):tournament_id>/pause')
@resource.organiser
@resource.idempotent
@resource.response(WholeTournamentView)
def pause(tournament_id: str) -> Any:
    """Let no further match begin"""
    return attach_progress(lifecycle.pause(record(), get_managed_tournament(tournament_id).id))


@resource.route("POST", '/<id("trn"):tournament_id>/resume')
@resource.organiser
@resource.wakes_runner
@resource.idempotent
@resource.response(WholeTournamentView)
def resume(tournament_id: str) -> Any:
    """Go on after a pause"""
    return attach_progress(lifecycle.resume(record(), get_managed_tournament(tournament_id).id))


@resource.route("POST", '/<id("trn"):tournament_id>/cancel')
@resource.organiser
@resource.body(CancelTournament)
@resource.idempotent
@resource.response(WholeTournamentView)
def cancel(wish: dict[str, Any], tournament_id: str) -> Any:
    """Cancel a tournament

    Matches that are over keep their results; the others are cancelled.
    """
    tournament_id = get_managed_tournament(tournament_id).id
    return attach_progress(
        tournament_cancellation.cancel(record(), tournament_id, master_key=master_key(), reason=wish["reason"])
    )


@resource.route("POST", '/<id("trn"):tournament_id>/finish')
@resource.organiser
@resource.idempotent
@resource.response(WholeTournamentView)
def finish(tournament_id: str) -> Any:
    """End a ladder

    Other formats end by themselves. Matches that run are played out, those not begun are cancelled; the event is
    `finished` when the last is over.
    """
    return attach_progress(lifecycle.finish(record(), get_managed_tournament(tournament_id).id))


@resource.route("GET", '/<id("trn"):tournament_id>/matches')
@resource.anyone
@resource.query(PageQuery)
@resource.reads
@resource.response(list_of(MatchView))
def list_matches(query: dict[str, Any], tournament_id: str) -> Any:
    """The matches of a tournament, the newest first"""
    tournament = tournaments.get_tournament(record(), tournament_id)
    found = matches.list_matches(record(), tournament_id=tournament.id, limit=query["limit"], cursor=read_cursor(query))
    return envelope(Page(visible_matches(found.items), found.next), query)


def get_managed_tournament(tournament_id: str) -> Tournament:
    """Return the tournament, if the asker runs it."""
    return tournaments.get_tournament(record(), tournament_id, run_by=asker())
