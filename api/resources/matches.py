"""Matches: arranged, listed, cancelled; their logs."""

from typing import Any

from flask import Response, current_app, request

from api.auth import asker, viewer_id, viewer_role
from api.errors import Problem, invalid, not_found
from api.pagination import after, envelope, list_of
from api.schemas.matches import MatchQuery, MatchView, NewMatch, WholeMatchView
from api.views import Resource, record
from referee.clocks import Limits
from referee.errors import Forbidden, NotFound, NotReady, QuotaExceeded
from referee.store import bots, groups, logs, matches, quotas
from referee.store.paging import Page
from referee.store.schema import Match, MatchSeat

resource = Resource("matches", "/api/v1/matches", "Matches and their logs.")

OPEN_MATCHES = 100  # a friendly player may have this many that are not over

LOG_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"


@resource.on("POST")
@resource.owner
@resource.wakes
@resource.takes(NewMatch)
@resource.once
@resource.gives(WholeMatchView, 201)
def arrange(new_match: dict[str, Any]) -> Any:
    """Arrange a match

    A friendly, unrated one with a bot of one's own; organisers may seat any bots and have it rated.
    """
    check_right(new_match)
    plan = matches.Plan(
        game=new_match["game"],
        bots=new_match["bots"],
        options=new_match["options"],
        limits=Limits(**new_match["time"]),
        rated=new_match["rated"],
        created_by=asker().id,
    )
    return whole(matches.create_match(record(), plan, master_key=master_key()))


@resource.on("GET")
@resource.anyone
@resource.asks(MatchQuery)
@resource.reads
@resource.gives(list_of(MatchView))
def list_matches(query: dict[str, Any]) -> Any:
    """Matches, the newest first"""
    found = matches.list_matches(
        record(),
        status=query.get("status"),
        bot_id=query.get("bot"),
        tournament_id=query.get("tournament"),
        game=query.get("game"),
        open_seats="bot" in query and not (knows_all() or owns(query["bot"])),
        limit=query["limit"],
        cursor=after(query),
    )
    return page_of_matches(found, query)


@resource.on("GET", '/<id("mat"):match_id>')
@resource.anyone
@resource.reads
@resource.gives(WholeMatchView)
def show(match_id: str) -> Any:
    """A match"""
    return whole(matches.get_match(record(), match_id))


@resource.on("POST", '/<id("mat"):match_id>/cancel')
@resource.owner
@resource.once
@resource.gives(WholeMatchView)
def cancel(match_id: str) -> Any:
    """Cancel a match that is not over

    For whoever arranged it and for organisers. It stays listed, without a result.
    """
    match = matches.get_match(record(), match_id)
    if asker().role == "owner" and (match.created_by != asker().id or match.tournament_id is not None):
        raise Forbidden("only whoever arranged a match, or an organiser, cancels it")
    return whole(matches.cancel(record(), match_id, master_key=master_key()))


@resource.on("GET", '/<id("mat"):match_id>/log')
@resource.anyone
@resource.reads
@resource.gives_file("application/x-ndjson", "The log, a JSON object a line; packed when gzip is accepted.")
def log(match_id: str) -> Response:
    """The log of a match

    Open when the last match of its deal group is over; before that 409 `log_not_ready`. A match that was cancelled
    before its first row has none.
    """
    match = matches.get_match(record(), match_id)
    gzipped = request.accept_encodings["gzip"] > 0
    try:
        content = logs.download(record(), match, gzipped=gzipped)
    except NotReady as error:
        if logs.is_open(record(), match):
            raise not_found() from None  # cancelled before its first row: there is no log and there will be none
        raise Problem(409, "log_not_ready", str(error)) from None
    response = Response(content, mimetype="application/x-ndjson")
    response.headers["Content-Disposition"] = f'attachment; filename="{match.id}.ndjson"'
    response.headers["Content-Security-Policy"] = LOG_POLICY
    response.headers["Vary"] = "Accept-Encoding"
    if gzipped:
        response.headers["Content-Encoding"] = "gzip"
    return response


def check_right(new_match: dict[str, Any]) -> None:
    """Refuses what this account may not arrange: foreign bots alone, rated matches, too many at once."""
    try:
        seated = [bots.get_bot(record(), bot_id) for bot_id in new_match["bots"]]
    except NotFound as error:
        raise invalid([(f"bots[{new_match['bots'].index(error.id)}]", "no bot has this id")]) from None
    if asker().role in ("organiser", "admin"):
        return
    if new_match["rated"]:
        raise Forbidden("rated matches are arranged by organisers and tournaments")
    if all(bot.owner_id != asker().id for bot in seated):
        raise Forbidden("at least one of the bots must be your own")
    if quotas.open_matches(record(), asker().id) >= OPEN_MATCHES:
        raise QuotaExceeded(f"at most {OPEN_MATCHES} matches of yours may be open; wait or cancel some")


def page_of_matches(found: Page[Match], query: dict[str, Any]) -> dict[str, Any]:
    seats = matches.seats_of(record(), [match.id for match in found.items])
    return envelope(Page([shown(match, seats[match.id]) for match in found.items], found.next), query)


def whole(match: Match) -> dict[str, Any]:
    group = groups.get_group(record(), match.group_id)
    seats = matches.seats_of(record(), [match.id])[match.id]
    described = {
        "id": group.id,
        "state": group.state,
        "commitment": group.commitment,
        "entries": group.entries if group.state == "over" else None,
        "reveal": groups.revealed(group, master_key()),
    }
    return {**shown(match, seats), "group": described}


def shown(match: Match, seats: list[MatchSeat]) -> dict[str, Any]:
    return {
        "id": match.id,
        "game": match.game,
        "rules_version": match.rules_version,
        "options": match.options,
        "seats": [seat_view(seat, told=not is_secret(match) or knows_all()) for seat in seats],
        "time": {"budget_ms": match.budget_ms, "bank_ms": match.bank_ms},
        "rated": match.rated,
        "status": match.status,
        "reason": match.reason,
        "tournament": match.tournament_id,
        "stage": match.stage,
        "table": match.table_no,
        "group_id": match.group_id,
        "created_at": match.created_at,
        "started_at": match.started_at,
        "finished_at": match.finished_at,
    }


def is_secret(match: Match) -> bool:
    """Whether only organisers may know who plays: a bot that knew its rivals could favour a friend."""
    return match.rated and match.status not in groups.ENDED


def knows_all() -> bool:
    return viewer_role() in ("organiser", "admin")


def owns(bot_id: str) -> bool:
    try:
        return bots.get_bot(record(), bot_id).owner_id == viewer_id()
    except NotFound:
        return False


def seat_view(seat: MatchSeat, *, told: bool) -> dict[str, Any]:
    return {
        "seat": seat.seat,
        "bot": seat.bot_id if told else None,
        "name": seat.bot_name if told else None,
        "version": seat.version if told else None,
        "placement": seat.placement,
        "returns": seat.returns,
    }


def master_key() -> bytes:
    key: bytes = current_app.config["SETTINGS"].master_key
    return key
