"""Serve the visible rows and streams of matches over HTTP and, once a log is open, its decisions and verification."""

from typing import Any

from flask import Response

from api.auth import anyone
from api.extended import Extended
from api.matches import log_replay
from api.matches.match_feed import get_feeds
from api.matches.stream import MatchStream
from api.matches.stream_schemas import DecisionView, RowsQuery, RowsView, VerificationView
from api.streams.connections import follow
from api.streams.endpoints import live as resource
from api.views import current_session, database, master_key
from referee.matches import matches
from referee.workflows.publishing import visibility

Json = dict[str, Any]


@resource.get('/matches/<id("mat"):match_id>/rows', anyone, RowsView, query=RowsQuery)
def list_rows(query: Json, match_id: str) -> Any:
    """List the visible rows of a match: masked game events, one in each row

    Each row has its `number` and its `event`. The numbers count the public events of the match from 0; they are not the
    numbers of rows in the log, which would reveal the moves that a seat was forced to make.
    Rows are visible immediately, except in rated matches that are not over. There, the rows of a round become visible
    when the next round begins; every ten seconds, all rows older than a minute become visible. While other matches play
    the same cards, the rows of a deal become visible when each of these matches has been dealt its next cards or is
    over. Rows do not reveal how long a seat thought or which bot plays in it.
    """
    standing, items = get_feeds().read_feed(current_session(), match_id)
    start = query["after"] + 1 if "after" in query else 0
    page = items[start : start + query["limit"]]
    return Extended(
        standing,
        rows=len(items),
        placements=visibility.load_placements(current_session(), match_id) if standing.has_ended else None,
        items=page,
        next_after=page[-1]["number"] if page else query.get("after"),
    )


@resource.stream('/matches/<id("mat"):match_id>/stream', "Messages until the log is open.", "rows", "state", "end")
def follow_match(query: Json, match_id: str) -> Response:
    """Follow a match (server-sent events)

    The stream begins with everything that is visible so far. `rows`: `items` as in GET …/rows. `state`: `status`,
    `reason`, `open`, `delayed`, `pace` and, when the match is over, `placements` with one entry per seat. `end`: the
    deal group is over and everyone can read the whole log. The id of a message is the number of the last row sent.
    Reconnect with this id in `Last-Event-ID` to receive every row exactly once. Rows become visible as described for
    GET …/rows.
    """
    with database().read() as session:
        matches.get_match(session, match_id)
    return follow(MatchStream, match_id, query.get("after"))


@resource.get('/matches/<id("mat"):match_id>/decisions/<int:row>', anyone, DecisionView)
def show_decision(match_id: str, row: int) -> Any:
    """Get a decision, with the question that was sent to the bot

    The question is rebuilt from the log. Before the log is open, the response is a 409 `log_not_ready`.
    """
    return log_replay.decision(current_session(), matches.get_match(current_session(), match_id), row, master_key())


@resource.get('/matches/<id("mat"):match_id>/verification', anyone, VerificationView)
def verify(match_id: str) -> Any:
    """Verify the log of a match: hash links, rules, legality, deals, result, signature

    The log is replayed on the first request. Before the log is open, the response is a 409 `log_not_ready`; while too
    many other logs are being replayed, it is a 503. If the stored log or its signature was changed, it is a 409
    `log_damaged`.
    """
    return log_replay.report(current_session(), matches.get_match(current_session(), match_id))
