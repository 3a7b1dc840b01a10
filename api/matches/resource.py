"""Matches: arranged, listed, cancelled, made void; their logs."""

import gzip
from dataclasses import asdict
from typing import Any

from flask import Response, request

from api.auth import asker, organises, viewer_id
from api.bots.fault_schemas import FaultView, MatchFaultQuery
from api.errors import Problem, invalid, not_found
from api.matches.schemas import CancelMatch, MatchQuery, MatchView, NewMatch, VoidedView, VoidMatch, WholeMatchView
from api.pagination import envelope, list_of, read_cursor
from api.presentation import attach_group, visible_matches
from api.requests import LOG_POLICY
from api.views import Resource, master_key, record
from referee.bots import bots
from referee.db.paging import Page
from referee.errors import Forbidden, NotFound, NotReady
from referee.match.time_limits import Limits
from referee.matches import fault_reports, friendlies, logs, matches, quotas
from referee.matches.tables import Match
from referee.tournaments import tournaments
from referee.workflows import match_cancellation, match_retry, visibility, voiding

resource = Resource("matches", "/api/v1/matches", "Matches and their logs.")


@resource.route("POST")
@resource.owner
@resource.wakes_runner
@resource.body(NewMatch)
@resource.idempotent
@resource.response(WholeMatchView, 201)
def arrange(new_match: dict[str, Any]) -> Any:
    """Arrange a match

    An owner arranges a friendly: an unrated match with at least one bot of their own. They may have 10 open friendlies,
    each with at most 5 s per decision and a bank of 60 s. Organisers have no such limits, may seat any bots, and may
    have the match rated.
    """
    check_right(new_match)
    plan = matches.MatchPlan(
        game=new_match["game"],
        bots=new_match["bots"],
        options=new_match["options"],
        limits=Limits(**new_match["time"]),
        rated=new_match["rated"],
        created_by=asker().id,
    )
    return attach_group(matches.create_match(record(), plan, master_key=master_key()))


@resource.route("GET")
@resource.anyone
@resource.query(MatchQuery)
@resource.reads
@resource.response(list_of(MatchView))
def list_matches(query: dict[str, Any]) -> Any:
    """Matches, the newest first"""
    hides_seats = "bot" in query and not (organises() or owns(query["bot"]))
    found = matches.list_matches(
        record(),
        status=query.get("status"),
        bot_id=query.get("bot"),
        tournament_id=query.get("tournament"),
        tournament_round=query.get("tournament_round"),
        game=query.get("game"),
        where=visibility.has_known_seats() if hides_seats else None,
        limit=query["limit"],
        cursor=read_cursor(query),
    )
    return envelope(Page(visible_matches(found.items), found.next), query)


@resource.route("GET", '/<id("mat"):match_id>')
@resource.anyone
@resource.reads
@resource.response(WholeMatchView)
def show(match_id: str) -> Any:
    """A match"""
    return attach_group(matches.get_match(record(), match_id))


@resource.route("POST", '/<id("mat"):match_id>/cancel')
@resource.owner
@resource.body(CancelMatch)
@resource.idempotent
@resource.response(WholeMatchView)
def cancel(wish: dict[str, Any], match_id: str) -> Any:
    """Cancel a match that is not over

    The account that arranged the match and organisers may cancel it; in a tournament, its organiser; a friendly, also
    the owner of any bot in it. The match stays listed, without a result. Matches that share their cards are cancelled
    together: 409 unless `whole_group` is true.
    """
    match = matches.get_match(record(), match_id)
    if not may_cancel(match):
        raise Forbidden(
            "Only the account that arranged a match or an organiser may cancel it; in a friendly, also the owner of "
            "any bot in it."
        )
    cancelled = match_cancellation.cancel(
        record(),
        match_id,
        wish["reason"],
        master_key=master_key(),
        whole_group=wish["whole_group"],
        by=asker().id,
    )
    return attach_group(cancelled)


@resource.route("POST", '/<id("mat"):match_id>/void')
@resource.organiser
@resource.wakes_runner
@resource.body(VoidMatch)
@resource.idempotent
@resource.response(VoidedView)
def void(wish: dict[str, Any], match_id: str) -> Any:
    """Make a match that was played not count

    For the organiser who arranged it, or whose event it is. Its log and placements stay readable, with the reason;
    its ladder becomes what it would be without it, by an act that is appended. `rematch` has it played again, while
    its event runs.
    """
    if not governs(matches.get_match(record(), match_id)):
        raise Forbidden("only the organiser who arranged a match, or whose event it is, makes it void")
    return voiding.void(
        record(),
        match_id,
        wish["reason"],
        by=asker().id,
        master_key=master_key(),
        rematch=wish["rematch"],
        whole_group=wish["whole_group"],
    )


@resource.route("POST", '/<id("mat"):match_id>/retry')
@resource.admin
@resource.wakes_runner
@resource.idempotent
@resource.response(WholeMatchView)
def retry(match_id: str) -> Any:
    """Let a stuck match go on

    For the operator, once he knows what cost its runners their lives. It goes on from its last recorded row.
    """
    return attach_group(match_retry.retry(record(), match_id))


@resource.route("GET", '/<id("mat"):match_id>/faults')
@resource.owner
@resource.query(MatchFaultQuery)
@resource.reads
@resource.response(list_of(FaultView))
def list_faults(query: dict[str, Any], match_id: str) -> Any:
    """The faults of one's own bots in a match, the newest first

    Organisers see those of all bots when its deal group is over.
    """
    match = matches.get_match(record(), match_id)
    judges = organises() and logs.is_open(record(), match)
    found = fault_reports.list_faults(
        record(),
        match_id=match.id,
        owner_id=None if judges else asker().id,
        code=query.get("code"),
        version=query.get("version"),
        limit=query["limit"],
        cursor=read_cursor(query),
    )
    return envelope(found, query)


@resource.route("GET", '/<id("mat"):match_id>/log')
@resource.anyone
@resource.reads
@resource.file_response("application/x-ndjson", "The log, a JSON object a line; packed when gzip is accepted.")
def log(match_id: str) -> Response:
    """The log of a match

    Open when the last match of its deal group is over; before that 409 `log_not_ready`. A match that was cancelled
    before its first row has none.
    """
    match = matches.get_match(record(), match_id)
    gzipped = request.accept_encodings["gzip"] > 0
    try:
        content = logs.download(record(), match, gzipped=False)
    except NotReady as error:
        if logs.is_open(record(), match):
            raise not_found() from None  # cancelled before its first row: there is no log and there will be none
        raise Problem(409, "log_not_ready", str(error)) from None
    response = Response(content, mimetype="application/x-ndjson")
    response.headers["Content-Disposition"] = f'attachment; filename="{match.id}.ndjson"'
    response.headers["Content-Security-Policy"] = LOG_POLICY
    response.headers["Vary"] = "Accept-Encoding"
    if gzipped:  # in one member: browsers read no further than the first
        response.set_data(gzip.compress(content, 6, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    return response


def check_right(new_match: dict[str, Any]) -> None:
    """Refuse what this account may not arrange: no bot of its own, rated matches, long times, too many matches."""
    try:
        seated = [bots.get_bot(record(), bot_id) for bot_id in new_match["bots"]]
    except NotFound as error:
        raise invalid([(f"bots[{new_match['bots'].index(error.id)}]", "no bot has this id")]) from None
    if organises():
        return
    if new_match["rated"]:
        raise Forbidden("rated matches are arranged by organisers and tournaments")
    if all(bot.owner_id != asker().id for bot in seated):
        raise Forbidden("at least one of the bots must be your own")
    check_time(new_match["time"])
    quotas.check_friendlies(record(), asker().id)


def check_time(time: dict[str, int]) -> None:
    """Refuse a friendly that grants more time than allowed."""
    most = asdict(quotas.LONGEST)
    if too_long := [name for name in most if time[name] > most[name]]:
        raise invalid(
            (f"time.{name}", f"must be at most {most[name]} in a friendly; organisers may grant more")
            for name in too_long
        )


def governs(match: Match) -> bool:
    """Whether the asker may end or judge it: he arranged it, or runs its event, or is the operator."""
    if asker().role == "admin":
        return True
    if match.tournament_id is not None:
        return tournaments.get_tournament(record(), match.tournament_id).created_by == asker().id
    return match.created_by == asker().id


def may_cancel(match: Match) -> bool:
    """Return whether the current account may cancel the match."""
    return (
        governs(match)
        or (match.tournament_id is None and asker().role == "organiser")
        or asker().id in friendlies.owners_in(record(), match)
    )


def owns(bot_id: str) -> bool:
    try:
        return bots.get_bot(record(), bot_id).owner_id == viewer_id()
    except NotFound:
        return False
