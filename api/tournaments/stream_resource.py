"""Serve the stream of a tournament over HTTP. ``api.tournaments.stream`` defines its messages."""

from collections.abc import Callable
from typing import Any

from flask import Response

from api.streams import connections
from api.streams.endpoints import live as resource
from api.tournaments import standings_cache
from api.tournaments.access import get_visible_tournament
from api.tournaments.schemas import ProgressView
from api.tournaments.standings_schemas import StandingsRow
from api.tournaments.stream import ROWS_PER_MESSAGE, TournamentStream
from api.views import current_application, database

Json = dict[str, Any]


@resource.stream(
    '/tournaments/<id("trn"):tournament_id>/stream',
    "Messages until the tournament has ended.",
    *("match", "progress", "standings", "end"),
)
def follow_tournament(query: Json, tournament_id: str) -> Response:
    """Follow a tournament (server-sent events)

    The stream begins with the present state; then it sends changes. `match`: a match has a result (`id`, `seq`,
    `tournament_round`, `table`, `leg`, `status`, `reason`, `finished_at`, and with one entry per seat: `entrants`,
    `bots`, `placements`, `returns`). `progress`: `status`, `reason`, `entries` and the members of the tournament's
    `progress`. `standings`: `as_of_seq`, `results` and the first 50 rows as in GET …/standings, without points per
    match or error bars. `end`: the tournament is finished or cancelled (`status`, `reason`, `as_of_seq`), and the
    stream closes. Progress and standings are sent at most once a second. The id of a message is the number of the last
    result sent. Reconnect with this id in `Last-Event-ID` to receive every match exactly once.
    """
    with database().read() as session:
        get_visible_tournament(tournament_id, session)
    render = ProgressView().dump, _render_standings()
    return connections.follow(TournamentStream, tournament_id, query.get("after"), *render)


def _render_standings() -> Callable[[str], Json]:
    """Return a function that renders the first rows of the standings of a tournament outside requests."""
    app = current_application()

    def render(tournament_id: str) -> Json:
        with app.app_context():
            kept = standings_cache.tournament_entry(tournament_id)
            rows = standings_cache.ranked_entrants(kept)[:ROWS_PER_MESSAGE]
            shown = standings_cache.attach_error_bars(kept, tournament_id, rows, computed=False)
            return {**standings_cache.snapshot(kept), "items": StandingsRow(many=True).dump(shown)}

    return render
