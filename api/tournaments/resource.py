"""Draft, edit, open, start, pause, cancel and list tournaments over HTTP."""

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

resource = Resource("tournaments", "/api/v1/tournaments", "Tournaments: many matches with common standings.")


@resource.route("POST")
@resource.organiser
@resource.body(NewTournament)
@resource.idempotent
@resource.response(WholeTournamentView, 201)
def announce(new: dict[str, Any]) -> Any:
    """Draft a tournament

    For organisers. Bots can be entered once it is open. Terms that are left out get their default values;
    `format_options` is returned in full.
    """
    limits = Limits(**new.pop("time"))
    return attach_progress(lifecycle.draft(record(), new.pop("name"), created_by=asker().id, limits=limits, **new))


@resource.route("GET")
@resource.anyone
@resource.query(TournamentQuery)
@resource.reads
@resource.response(list_of(TournamentView))
def list_tournaments(query: dict[str, Any]) -> Any:
    """List tournaments, newest first"""
    found = tournaments.list_tournaments(
        record(), status=query.get("status"), game=query.get("game"), limit=query["limit"], cursor=read_cursor(query)
    )
    return envelope(found, query)


@resource.route("GET", '/<id("trn"):tournament_id>')
@resource.anyone
@resource.reads
@resource.response(WholeTournamentView)
def show(tournament_id: str) -> Any:
    """Get a tournament: its terms and its progress

    Progress counts matches; the end is estimated from the pace of the last ones. `draw`, the seed of all random
    decisions, is shown when the tournament is over, so that anyone can repeat its pairings.
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
    """Close the entries and start

    First every bot is called (preflight), for about a minute at most. A bot that does not answer is absent: it sits out
    or a substitute plays for it. Then the first round is paired. 422 names `entries` if too few or too many bots can
    play.
    """
    return attach_progress(starting.start(record(), get_managed_tournament(tournament_id).id))


@resource.route("POST", '/<id("trn"):tournament_id>/pause')
@resource.organiser
@resource.idempotent
@resource.response(WholeTournamentView)
def pause(tournament_id: str) -> Any:
    """Pause a tournament: no further match begins"""
    return attach_progress(lifecycle.pause(record(), get_managed_tournament(tournament_id).id))


@resource.route("POST", '/<id("trn"):tournament_id>/resume')
@resource.organiser
@resource.wakes_runner
@resource.idempotent
@resource.response(WholeTournamentView)
def resume(tournament_id: str) -> Any:
    """Resume a paused tournament"""
    return attach_progress(lifecycle.resume(record(), get_managed_tournament(tournament_id).id))


@resource.route("POST", '/<id("trn"):tournament_id>/cancel')
@resource.organiser
@resource.body(CancelTournament)
@resource.idempotent
@resource.response(WholeTournamentView)
def cancel(wish: dict[str, Any], tournament_id: str) -> Any:
    """Cancel a tournament

    Finished matches keep their results; the others are cancelled.
    """
    tournament_id = get_managed_tournament(tournament_id).id
    return attach_progress(
        tournament_cancellation.cancel_tournament(
            record(), tournament_id, master_key=master_key(), reason=wish["reason"]
        )
    )


@resource.route("POST", '/<id("trn"):tournament_id>/finish')
@resource.organiser
@resource.idempotent
@resource.response(WholeTournamentView)
def finish(tournament_id: str) -> Any:
    """End a ladder tournament

    Other formats end by themselves. Running matches are played to the end and those not begun are cancelled; the
    tournament is `finished` when the last match is over.
    """
    return attach_progress(lifecycle.finish(record(), get_managed_tournament(tournament_id).id))


@resource.route("GET", '/<id("trn"):tournament_id>/matches')
@resource.anyone
@resource.query(PageQuery)
@resource.reads
@resource.response(list_of(MatchView))
def list_matches(query: dict[str, Any], tournament_id: str) -> Any:
    """List the matches of a tournament, newest first"""
    tournament = tournaments.get_tournament(record(), tournament_id)
    found = matches.list_matches(record(), tournament_id=tournament.id, limit=query["limit"], cursor=read_cursor(query))
    return envelope(Page(visible_matches(found.items), found.next), query)


def get_managed_tournament(tournament_id: str) -> Tournament:
    """Return the tournament. Raise ``Forbidden`` unless the caller runs it."""
    return tournaments.get_tournament(record(), tournament_id, manager=asker())
