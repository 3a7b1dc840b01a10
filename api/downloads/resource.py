"""Serve downloads of logs and results. ``files`` generates the files."""

from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, Final

from flask import Response

from api.auth import anyone, viewer
from api.downloads import files
from api.downloads.sending import BUSY, send_file
from api.fields import Id, Query, QueryTime
from api.views import Resource, database
from referee.bots import bots
from referee.ladders import months, ratings
from referee.ladders.ledger_csv import ledger_csv
from referee.tournaments import result_seats, tournaments, watching
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogList, LogSelection

resource = Resource("downloads", "/api/v1", "Downloads of many logs or results.")

COUNT_HEADERS: Final = {
    "Referee-Logs": {"schema": {"type": "integer"}, "description": "Number of logs in the file."},
    "Referee-Left-Out": {
        "schema": {"type": "integer"},
        "description": "Number of logs left out: those from the first log on that is not open.",
    },
    "Referee-Deleted": {
        "schema": {"type": "integer"},
        "description": "Number of logs left out because the service no longer keeps them.",
    },
}
LOGS: Final[dict[str, Any]] = {
    "documents": {"responses": {200: {"headers": COUNT_HEADERS}, **BUSY}},
    "transaction": None,
}
TABLE: Final[dict[str, Any]] = {"documents": {"responses": BUSY}, "transaction": None}
GZIP: Final = ("application/gzip", "The concatenated logs as JSON lines, gzipped in members.")


class AfterQuery(Query):
    """Select where to resume a download."""

    after = Id("mat", "Id of the match of the last complete log received. Only later logs are sent.", load_default=None)


class SpanQuery(AfterQuery):
    """Select a span of time, and where to resume."""

    finished_since = QueryTime("Only matches that ended at this time or later.")
    finished_before = QueryTime("Only matches that ended before this time.")


class ServiceSpanQuery(SpanQuery):
    """Select a span of time of the whole service, and where to resume."""

    finished_since = QueryTime("Only matches that ended at this time or later. Required.", required=True)


@resource.get('/tournaments/<id("trn"):tournament_id>/logs', anyone, query=AfterQuery, **LOGS)
@resource.file_response(*GZIP)
def tournament_logs(query: dict[str, Any], tournament_id: str) -> Response:
    """Download all logs of a tournament as one gzip file

    The logs are in the order in which the matches ended; each begins with its row 0. After the log of a match that does
    not count, there is a line `{"type": "void" or "cancelled", "match", "reason"}`. A log is open when its deal group
    is over; the file ends before the first log that is not open. Resume with `after`.
    """
    return _gzip_file(query, LogSelection(tournament_id=tournament_id), tournament_id)


@resource.get('/bots/<id("bot"):bot_id>/logs', anyone, query=SpanQuery, **LOGS)
@resource.file_response(*GZIP)
def bot_logs(query: dict[str, Any], bot_id: str) -> Response:
    """Download the logs of a bot as one gzip file

    The file has the form of a tournament's, with the logs of all matches with a result in which the bot played.
    """
    return _gzip_file(query, LogSelection(bot_id=bot_id), bot_id)


@resource.get('/ladders/<id("lad"):ladder_id>/logs', anyone, query=SpanQuery, **LOGS)
@resource.file_response(*GZIP)
def ladder_logs(query: dict[str, Any], ladder_id: str) -> Response:
    """Download the logs of a ladder as one gzip file

    The file has the form of a tournament's, with the logs of all rated matches of the ladder.
    """
    return _gzip_file(query, LogSelection(ladder_id=ladder_id), ladder_id)


@resource.get("/matches/logs", anyone, query=ServiceSpanQuery, **LOGS)
@resource.file_response(*GZIP)
def all_logs(query: dict[str, Any]) -> Response:
    """Download the logs of a span of time as one gzip file

    The file has the form of a tournament's, with the logs of all matches with a result that ended in this span.
    """
    return _gzip_file(query, LogSelection(), "matches")


@resource.get('/tournaments/<id("trn"):tournament_id>/results.csv', anyone, **TABLE)
@resource.file_response("text/csv", "One row per seat.")
def results(tournament_id: str) -> Response:
    """Download the results of a tournament, for spreadsheets

    The CSV file has a row for each seat of each match, in the order in which the matches ended. `status` is `void` if a
    match does not count. Names that a spreadsheet could run as formulas begin with an apostrophe.
    """
    with database().read() as session:
        tournaments.get_visible_tournament(session, tournament_id, viewer())
        until = watching.last_seq(session)
    which = result_seats.is_in_tournament(tournament_id)
    return send_file("text/csv", f"{tournament_id}.csv", lambda: files.results_csv(database(), which, until))


@resource.get('/ladders/<id("lad"):ladder_id>/results.csv', anyone, **TABLE)
@resource.file_response("text/csv", "The ledger entries, in order.")
def ladder_results(ladder_id: str) -> Response:
    """Download the ledger of a ladder, for spreadsheets

    The CSV file contains every ledger entry (`entry`, `kind`). A result has a row for each seat, with the columns of a
    tournament's results; a void has a row for each bot whose rating changed. `before_micro` and `after_micro` are
    the bot's rating in millionths of a point. This file is sufficient to recompute the ladder.
    """
    with database().read() as session:
        ratings.get_ladder(session, ladder_id)
        until = ratings.last_seq(session, ladder_id)
    return send_file("text/csv", f"{ladder_id}.csv", lambda: ledger_csv(database(), ladder_id, until))


@resource.get('/ladders/<id("lad"):ladder_id>/months/<month:month>.csv', anyone, **TABLE)
@resource.file_response("text/csv", "The final standings, best first.")
def month_standings(ladder_id: str, month: date) -> Response:
    """Download the final standings of a month, for spreadsheets

    The CSV file has the rows and columns of `GET /ladders/{ladder_id}/months/{month}`.
    """
    with database().read() as session:
        closed = months.get_month(session, ladder_id, month)
    name = f"{ladder_id}-{closed.name}.csv"
    return send_file("text/csv", name, lambda: files.month_csv(database(), closed.month))


def _gzip_file(query: dict[str, Any], selection: LogSelection, name: str) -> Response:
    found = _find_logs(query, selection)
    pieces = partial(files.gzip_logs, database(), found)
    counts = {"Logs": len(found), "Left-Out": found.withheld, "Deleted": found.deleted}
    headers = {f"Referee-{name}": str(count) for name, count in counts.items()}
    return send_file("application/gzip", f"{name}.ndjson.gz", pieces, headers)


def _find_logs(query: dict[str, Any], selection: LogSelection) -> LogList:
    """Return the logs of the selection within the span of the query. Raise ``NotFound`` if its subject is unknown."""
    after = query["after"]
    span = {name: query[name] for name in ("finished_since", "finished_before") if name in query}
    with database().read() as session:
        if selection.tournament_id is not None:
            tournaments.get_visible_tournament(session, selection.tournament_id, viewer())
        if selection.bot_id is not None:
            bots.get_bot(session, selection.bot_id)
        if selection.ladder_id is not None:
            ratings.get_ladder(session, selection.ladder_id)
        return log_downloads.find_logs(session, replace(selection, **span), after=after)
