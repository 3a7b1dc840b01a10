"""The stream of a tournament over HTTP; ``api.tournaments.stream`` decides what its messages contain."""

from typing import Any

from flask import Flask, Response, current_app

from api import standings_cache
from api.streams import connections
from api.streams.schemas import FollowQuery
from api.streams.stream_writer import StreamConnections
from api.tournaments.schemas import ProgressView
from api.tournaments.standings_schemas import StandingsRow
from api.tournaments.stream import ROWS_PER_MESSAGE, TournamentStream, Views
from api.views import Resource, database
from referee.db.engine import Database
from referee.tournaments import tournaments

resource = Resource("events", "/api/v1/tournaments", "Live streams of tournaments.")

Json = dict[str, Any]


@resource.route("GET", '/<id("trn"):tournament_id>/stream')
@resource.anyone
@resource.query(FollowQuery)
@resource.documents(
    parameters=[connections.LAST_EVENT_ID], responses={204: connections.COMPLETE, 503: connections.TOO_MANY}
)
@resource.file_response(
    connections.MEDIA_TYPE,
    "Messages until the tournament has ended.",
    connections.message_schema("match", "progress", "standings", "end"),
)
def follow(query: Json, tournament_id: str) -> Response:
    """Follow a tournament (server-sent events)

    The stream begins with the present state; then it sends changes. `match`: a match has its result (`id`, `seq`,
    `stage`, `table`, `leg`, `status`, `reason`, `entrants`, `bots`, `placements`, `returns` by seat, `finished_at`).
    `progress`: `status`, `reason`, `entries` and the members of the tournament's `progress`. `standings`: `as_of_seq`,
    `results` and the first 50 rows as in GET …/standings, without points per match and error bars. `end`: the
    tournament is finished or cancelled (`status`, `reason`, `as_of_seq`), and the stream closes. Progress and standings
    are sent at most once a second. The id of a message is the number of the last result sent: reconnect with it in
    `Last-Event-ID` to receive every match exactly once.
    """
    with database().read() as session:
        tournaments.get_tournament(session, tournament_id)
    return connections.follow(_tournament_stream, tournament_id, query.get("after"))


def _tournament_stream() -> TournamentStream:
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy of werkzeug's

    def table(tournament_id: str) -> Json:
        with app.app_context():
            kept = standings_cache.tournament_entry(tournament_id)
            rows = standings_cache.table(kept)[:ROWS_PER_MESSAGE]
            shown = standings_cache.attach_error_bars(kept, tournament_id, rows, computed=False)
            return {**standings_cache.snapshot(kept), "items": StandingsRow(many=True).dump(shown)}

    def create_stream(database: Database, connections: StreamConnections) -> TournamentStream:
        return TournamentStream(database, connections, Views(ProgressView().dump, table))

    return connections.get_stream(TournamentStream, create_stream)
