"""Whole events and ladders as files. How they are made is ``api.bulk``'s."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from flask import Response, current_app, request

from api import bulk, limits
from api.fields import Id, Query
from api.requests import LOG_POLICY
from api.streams.connection_limits import Places
from api.views import Resource, database
from referee.ladders import ratings
from referee.tournaments import bulk as stored
from referee.tournaments import tournaments, watching

resource = Resource("downloads", "/api/v1", "Whole events and ladders as files.")

AT_ONCE: Final = 4  # in a process: each holds a thread
AT_ONCE_AN_ADDRESS: Final = 2
RETRY_AFTER_S: Final = 10

COUNT_HEADERS: Final = {
    "Referee-Logs": {"schema": {"type": "integer"}, "description": "logs in the file"},
    "Referee-Left-Out": {"schema": {"type": "integer"}, "description": "logs that are still closed, or come after one"},
}
BUSY: Final = {503: {"description": "As many downloads as there may be at once; see Retry-After."}}

_STARTING = threading.Lock()


class AfterQuery(Query):
    """From where on."""

    after = Id(
        "mat",
        load_default=None,
        metadata={"description": "the match of the last complete log that you have: only what follows is sent"},
    )


@resource.route("GET", '/tournaments/<id("trn"):tournament_id>/logs')
@resource.anyone
@resource.documents(responses={200: {"headers": COUNT_HEADERS}, **BUSY})
@resource.query(AfterQuery)
@resource.file_response("application/gzip", "The logs one after the other, JSON lines in gzip members.")
def all_logs(query: dict[str, Any], tournament_id: str) -> Response:
    """All logs of a tournament, as one packed file

    In the order in which the matches ended, as they are stored: row 0 of each begins it. The log of a match that does
    not count is followed by a line of its own, `{"type": "void" or "cancelled", "match", "reason"}`. Logs open when
    their deal group is over; the file ends before the first that is closed. `after` gives the rest of it.
    """
    place, extent = _extent(tournament_id, query["after"])
    return _file(
        "application/gzip",
        f"{tournament_id}.ndjson.gz",
        lambda: bulk.packed_logs(database(), tournament_id, place, extent),
        _counts(extent),
    )


@resource.route("GET", '/tournaments/<id("trn"):tournament_id>/logs.zip')
@resource.anyone
@resource.documents(responses={200: {"headers": COUNT_HEADERS}, **BUSY})
@resource.query(AfterQuery)
@resource.file_response("application/zip", "A file for each log, and index.csv.")
def all_logs_zipped(query: dict[str, Any], tournament_id: str) -> Response:
    """All logs of a tournament, as a zip

    The same logs in the same order, `<match>.ndjson` each; index.csv lists them with stage, table, leg, status and
    reason. At most 50,000 at a time: go on by `after`.
    """
    place, extent = _extent(tournament_id, query["after"])
    return _file(
        "application/zip",
        f"{tournament_id}.zip",
        lambda: bulk.zipped_logs(database(), tournament_id, place, extent),
        _counts(extent, bulk.MOST_IN_ZIP),
    )


@resource.route("GET", '/tournaments/<id("trn"):tournament_id>/results.csv')
@resource.anyone
@resource.documents(responses=BUSY)
@resource.file_response("text/csv", "A row for each seat.")
def results(tournament_id: str) -> Response:
    """The results of a tournament, for spreadsheets

    A row for each seat of each match, in the order in which they ended; `status` is `void` where a match does not
    count. Names that a spreadsheet would take for formulas begin with an apostrophe.
    """
    with database().read() as session:
        tournaments.get_tournament(session, tournament_id)
        until = watching.last_seq(session)
    which = stored.of_event(tournament_id)
    return _file("text/csv", f"{tournament_id}.csv", lambda: bulk.results(database(), which, until))


@resource.route("GET", '/ladders/<id("lad"):ladder_id>/results.csv')
@resource.anyone
@resource.documents(responses=BUSY)
@resource.file_response("text/csv", "The ledger, in order.")
def ladder_results(ladder_id: str) -> Response:
    """Download the ledger of a ladder, for spreadsheets

    Every ledger entry (`entry`, `kind`): a result has a row for each seat, with the columns of a tournament's results;
    a void or a repair has a row for each bot whose rating changed. `before_micro` and `after_micro` are the bot's
    rating in millionths of a point. The ladder can be recomputed from this file alone.
    """
    with database().read() as session:
        ratings.get_ladder(session, ladder_id)
        until = ratings.last_seq(session, ladder_id)
    return _file("text/csv", f"{ladder_id}.csv", lambda: bulk.ledger(database(), ladder_id, until))


class _Body:
    """Pieces of a file, and a place that is free again when it was sent, cut, or never begun."""

    def __init__(self, pieces: Iterator[bytes], give_back: Callable[[], bool]) -> None:
        self._pieces, self._give_back = pieces, give_back

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._pieces
        finally:
            self._give_back()

    def close(self) -> None:
        self._give_back()


def _file(
    media_type: str, name: str, pieces: Callable[[], Iterator[bytes]], headers: dict[str, str] | None = None
) -> Response:
    body: Any = []
    if request.method != "HEAD":
        give_back = _places().take(limits.address())
        body = _Body(pieces(), give_back)
    response = Response(body, content_type=media_type, direct_passthrough=True)
    if media_type == "text/csv":
        response.headers["Content-Type"] = "text/csv; charset=utf-8; header=present"
    response.headers.update(headers or {})
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Content-Security-Policy"] = LOG_POLICY
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"  # a proxy would gather all of it
    return response


def _extent(tournament_id: str, after: str | None) -> tuple[stored.DownloadCursor, stored.DownloadExtent]:
    with database().read() as session:
        tournaments.get_tournament(session, tournament_id)
        place = stored.place_after(session, tournament_id, after)
        return place, stored.extent(session, tournament_id, place)


def _counts(extent: stored.DownloadExtent, most: int | None = None) -> dict[str, str]:
    sent = extent.logs if most is None else min(extent.logs, most)
    return {"Referee-Logs": str(sent), "Referee-Left-Out": str(extent.closed + extent.logs - sent)}


def _places() -> Places:
    with _STARTING:
        if "referee.downloads" not in current_app.extensions:
            places = Places("downloads", AT_ONCE, AT_ONCE_AN_ADDRESS, RETRY_AFTER_S)
            current_app.extensions["referee.downloads"] = places
        return cast(Places, current_app.extensions["referee.downloads"])
