"""An event as it goes on, as server-sent events. What is told is decided in ``api.tournaments.stream``."""

from typing import Any

from flask import Flask, Response, current_app

from api import standings_cache
from api.streams import connections
from api.streams.schemas import FollowQuery
from api.streams.stream_writer import StreamConnections
from api.tournaments.schemas import ProgressView
from api.tournaments.standings_schemas import StandingsRow
from api.tournaments.stream import LINES, EventHub, Views
from api.views import Resource, database
from referee.db.engine import Database
from referee.tournaments import tournaments

resource = Resource("events", "/api/v1/tournaments", "An event as it goes on.")

Json = dict[str, Any]


@resource.route("GET", '/<id("trn"):tournament_id>/stream')
@resource.anyone
@resource.query(FollowQuery)
@resource.documents(
    parameters=[connections.LAST_EVENT_ID], responses={204: connections.ALL_TOLD, 503: connections.TOO_MANY}
)
@resource.file_response(
    connections.MEDIA_TYPE,
    "Messages for as long as the event goes on.",
    connections.schema_of("match", "progress", "standings", "end"),
)
def follow(query: Json, tournament_id: str) -> Response:
    """An event as it goes on (server-sent events)

    First how it stands, then what changes: `match` (one that has its result: `id`, `seq`, `tournament_round`, `table`,
    `leg`, `status`, `reason`, `entrants`, `bots`, `placements`, `returns` by seat, `finished_at`), `progress`
    (`status`, `reason`, `entries` and what `progress` of the event has), `standings` (`as_of_seq`, `results` and the
    first 50 lines as GET …/standings has them, but for points per match and error bars), `end` (`status`, `reason`,
    `as_of_seq`) when the event is over; then the stream ends. Progress and standings come at most once a second. Each
    message has the number of the last result that was told as its id: come back with it in `Last-Event-ID`, and no
    match is lost or told twice.
    """
    with database().read() as session:
        tournaments.get_tournament(session, tournament_id)
    return connections.stream(_hub, tournament_id, query.get("after"))


def _hub() -> EventHub:
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy of werkzeug's

    def table(tournament_id: str) -> Json:
        with app.app_context():
            kept = standings_cache.of_event(tournament_id)
            rows = standings_cache.table(kept)[:LINES]
            shown = standings_cache.attach_error_bars(kept, tournament_id, rows, computed=False)
            return {**standings_cache.snapshot(kept), "items": StandingsRow(many=True).dump(shown)}

    def create_hub(database: Database, lines: StreamConnections) -> EventHub:
        return EventHub(database, lines, Views(ProgressView().dump, table))

    return connections.hub(EventHub, create_hub)
