"""Serve the list of series by year, and the page of a series with its standings."""

from typing import Any, Final

from flask import Response, request

from api.pages.page import Pages, page
from api.pages.paging import numbered_page, requested_number
from api.pages.parameters import load_query
from api.pages.untrusted_markdown import render_untrusted
from api.pagination import envelope, read_cursor
from api.series.presentation import attach_bots, compute_standings
from api.series.schemas import SeriesQuery, dump_rows
from api.tournaments import terms
from api.views import current_session
from referee.series import series as store
from referee.standings.series import DEFAULT_POINTS, SeriesRow
from referee.tournaments.announcement import MAX_DESCRIPTION_LENGTH
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament

pages = Pages("series", __name__)

Json = dict[str, Any]
SERIES_PER_PAGE: Final = 30
ROWS_PER_PAGE: Final = 50


@pages.view("/series", "cursor", "year")
def contents() -> Response:
    """Show the series, newest first, or those of one year."""
    query = {**load_query(SeriesQuery), "limit": SERIES_PER_PAGE}
    year = query.get("year")
    found = store.list_series(current_session(), year=year, limit=SERIES_PER_PAGE, cursor=read_cursor(query))
    return page(
        "series/contents.html",
        listed=found.items,
        counts=store.count_tournaments(current_session(), [series.id for series in found.items]),
        next=envelope(found, query)["next"],
        first=query["cursor"] is None,
        year=year,
        years=store.list_years(current_session()),
        filters="" if year is None else f"year={year}",
        default_points=DEFAULT_POINTS,
        longest=MAX_DESCRIPTION_LENGTH,
        has_filter=bool(request.args.get("year")),
    )


@pages.view('/series/<id("ser"):series_id>', "page")
def show(series_id: str) -> Response:
    """Show a series: its tournaments, its standings, how it counts."""
    series = store.get_series(current_session(), series_id)
    tournaments = store.list_tournaments(current_session(), series.id)
    rows = compute_standings(series, tournaments)
    numbered = numbered_page(requested_number(), ROWS_PER_PAGE, len(rows))
    finished = [tournament for tournament in tournaments if tournament.status == TournamentState.FINISHED]
    return page(
        "series/show.html",
        series=series,
        description=series.description and render_untrusted(series.description),
        organisers=store.list_organisers(current_session(), series),
        tournaments=[
            {"row": tournament, "format": terms.FORMATS[tournament.format][0], "winners": _winners(tournament, rows)}
            for tournament in tournaments
        ],
        finished=finished,
        longest=MAX_DESCRIPTION_LENGTH,
        numbered=numbered,
        lines=[_line(line, finished) for line in dump_rows(attach_bots(numbered.rows(rows)))],
    )


def _line(row: Json, finished: list[Tournament]) -> Json:
    """Return a row of the standings with a cell for each finished tournament."""
    by_id = {result["tournament"]: result for result in row["results"]}
    return {**row, "cells": [by_id.get(tournament.id) for tournament in finished]}


def _winners(tournament: Tournament, rows: list[SeriesRow]) -> list[Json]:
    """Return the bots on the first rank of a finished tournament, with their names."""
    first = [
        row for row in rows if any(result.tournament == tournament.id and result.rank == 1 for result in row.results)
    ]
    return [{"bot": row.bot, "name": row.person.name} for row in attach_bots(first)]
