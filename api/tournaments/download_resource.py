"""Serve downloads of tournaments and ladders. ``download_files`` generates the files."""

from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import Any, Final

from flask import Response, request

from api import limits
from api.auth import anyone
from api.fields import Id, Query, describe
from api.requests import LOG_POLICY
from api.streams.connection_limits import ConnectionLimit
from api.tournaments import download_files
from api.views import Resource, database, get_shared
from referee.ladders import months, ratings
from referee.tournaments import bulk as stored
from referee.tournaments import tournaments, watching

resource = Resource("downloads", "/api/v1", "Downloads of whole tournaments and ladders.")

MOST_CONCURRENT: Final = 4  # downloads in a process; each keeps a thread
MOST_PER_ADDRESS: Final = 2
RETRY_AFTER_S: Final = 10

COUNT_HEADERS: Final = {
    "Referee-Logs": {"schema": {"type": "integer"}, "description": "Number of logs in the file."},
    "Referee-Left-Out": {
        "schema": {"type": "integer"},
        "description": "Number of logs left out: those from the first log on that is not open.",
    },
}
BUSY: Final = {503: {"description": "The limit of concurrent downloads is reached. See Retry-After."}}


class AfterQuery(Query):
    """Select where to resume a download."""

    after = Id(
        "mat",
        load_default=None,
        metadata=describe("Id of the match of the last complete log received. Only later logs are sent."),
    )


@resource.get(
    '/tournaments/<id("trn"):tournament_id>/logs',
    anyone,
    documents={"responses": {200: {"headers": COUNT_HEADERS}, **BUSY}},
    query=AfterQuery,
    transaction=None,
)
@resource.file_response("application/gzip", "The concatenated logs as JSON lines, gzipped in members.")
def all_logs(query: dict[str, Any], tournament_id: str) -> Response:
    """Download all logs of a tournament as one gzip file

    The logs are in the order in which the matches ended; each begins with its row 0. After the log of a match that does
    not count, there is a line `{"type": "void" or "cancelled", "match", "reason"}`. A log is open when its deal group
    is over; the file ends before the first log that is not open. Resume with `after`.
    """
    cursor, extent = _extent(tournament_id, query["after"])
    return _file(
        "application/gzip",
        f"{tournament_id}.ndjson.gz",
        lambda: download_files.gzip_logs(database(), tournament_id, cursor, extent),
        _counts(extent),
    )


@resource.get(
    '/tournaments/<id("trn"):tournament_id>/logs.zip',
    anyone,
    documents={"responses": {200: {"headers": COUNT_HEADERS}, **BUSY}},
    query=AfterQuery,
    transaction=None,
)
@resource.file_response("application/zip", "One file per log, and index.csv.")
def all_logs_zipped(query: dict[str, Any], tournament_id: str) -> Response:
    """Download all logs of a tournament as a zip

    The zip contains the same logs in the same order, each as `<match>.ndjson`; index.csv lists them with round, table,
    leg, status and reason. A zip has at most 50,000 logs; download the rest with `after`.
    """
    cursor, extent = _extent(tournament_id, query["after"])
    return _file(
        "application/zip",
        f"{tournament_id}.zip",
        lambda: download_files.zip_logs(database(), tournament_id, cursor, extent),
        _counts(extent, download_files.MOST_IN_ZIP),
    )


@resource.get(
    '/tournaments/<id("trn"):tournament_id>/results.csv', anyone, documents={"responses": BUSY}, transaction=None
)
@resource.file_response("text/csv", "One row per seat.")
def results(tournament_id: str) -> Response:
    """Download the results of a tournament, for spreadsheets

    The CSV file has a row for each seat of each match, in the order in which the matches ended. `status` is `void` if a
    match does not count. Names that a spreadsheet could run as formulas begin with an apostrophe.
    """
    with database().read() as session:
        tournaments.get_tournament(session, tournament_id)
        until = watching.last_seq(session)
    which = stored.is_in_tournament(tournament_id)
    return _file("text/csv", f"{tournament_id}.csv", lambda: download_files.results_csv(database(), which, until))


@resource.get('/ladders/<id("lad"):ladder_id>/results.csv', anyone, documents={"responses": BUSY}, transaction=None)
@resource.file_response("text/csv", "The ledger entries, in order.")
def ladder_results(ladder_id: str) -> Response:
    """Download the ledger of a ladder, for spreadsheets

    The CSV file contains every ledger entry (`entry`, `kind`). A result has a row for each seat, with the columns of a
    tournament's results; a void or a repair has a row for each bot whose rating changed. `before_micro` and
    `after_micro` are the bot's rating in millionths of a point. This file is sufficient to recompute the ladder.
    """
    with database().read() as session:
        ratings.get_ladder(session, ladder_id)
        until = ratings.last_seq(session, ladder_id)
    return _file("text/csv", f"{ladder_id}.csv", lambda: download_files.ledger_csv(database(), ladder_id, until))


@resource.get(
    '/ladders/<id("lad"):ladder_id>/months/<month:month>.csv',
    anyone,
    documents={"responses": BUSY},
    transaction=None,
)
@resource.file_response("text/csv", "The final standings, best first.")
def month_standings(ladder_id: str, month: date) -> Response:
    """Download the final standings of a month, for spreadsheets

    The CSV file has the rows and columns of `GET /ladders/{ladder_id}/months/{month}`.
    """
    with database().read() as session:
        closed = months.get_month(session, ladder_id, month)
    name = f"{ladder_id}-{closed.name}.csv"
    return _file("text/csv", name, lambda: download_files.month_csv(database(), closed.month))


class _FileBody:
    """Yield the pieces of a file, and release its place in the limit when the download ends or never begins."""

    def __init__(self, pieces: Iterator[bytes], release: Callable[[], bool]) -> None:
        self._pieces, self._release = pieces, release

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._pieces
        finally:
            self._release()

    def close(self) -> None:
        self._release()


def _file(
    media_type: str, name: str, pieces: Callable[[], Iterator[bytes]], headers: dict[str, str] | None = None
) -> Response:
    body: Any = []
    if request.method != "HEAD":
        make = partial(ConnectionLimit, "downloads", MOST_CONCURRENT, MOST_PER_ADDRESS, RETRY_AFTER_S)
        release = get_shared("referee.downloads", make).acquire(limits.caller_address())
        body = _FileBody(pieces(), release)
    response = Response(body, content_type=media_type, direct_passthrough=True)
    if media_type == "text/csv":
        response.headers["Content-Type"] = "text/csv; charset=utf-8; header=present"
    response.headers.update(headers or {})
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Content-Security-Policy"] = LOG_POLICY
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"  # a proxy must not buffer it
    return response


def _extent(tournament_id: str, after: str | None) -> tuple[stored.DownloadCursor, stored.DownloadScope]:
    with database().read() as session:
        tournaments.get_tournament(session, tournament_id)
        cursor = stored.cursor_after(session, tournament_id, after)
        return cursor, stored.find_scope(session, tournament_id, cursor)


def _counts(extent: stored.DownloadScope, most: int | None = None) -> dict[str, str]:
    sent = extent.logs if most is None else min(extent.logs, most)
    return {"Referee-Logs": str(sent), "Referee-Left-Out": str(extent.closed + extent.logs - sent)}
