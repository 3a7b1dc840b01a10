"""Serve the list of series, and the page of a series with its standings."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from flask import Response, request
from markupsafe import Markup

from api.pages.page import Pages, page
from api.pages.paging import LAST_PAGE, NumberedPage, cursor_links, cursor_query, numbered_page, requested_number
from api.pages.parameters import whole_number
from api.pages.untrusted_markdown import render_untrusted
from api.pagination import read_cursor
from api.views import current_session
from referee.tournaments.announcement import MAX_DESCRIPTION_LENGTH
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament
from referee.tournaments.terms import FORMATS
from referee_extras.series import operations
from referee_extras.series.presentation import attach_bots, compute_standings
from referee_extras.series.schemas import dump_rows
from referee_extras.series.standings import DEFAULT_POINTS, SeriesRow

pages = Pages("series", __name__, template_folder="templates")

Json = dict[str, Any]
SERIES_PER_PAGE: Final = 30
ROWS_PER_PAGE: Final = 20
TOURNAMENTS_PER_PAGE: Final = 10  # columns of the standings, so that the page stays small with 50 tournaments


@pages.view("/series", "cursor")
def contents() -> Response:
    """Show the series, newest first."""
    query = cursor_query(SERIES_PER_PAGE)
    found = operations.list_series(current_session(), limit=SERIES_PER_PAGE, cursor=read_cursor(query))
    return page(
        "series/contents.html",
        listed=found.items,
        counts=operations.count_tournaments(current_session(), [series.id for series in found.items]),
        **cursor_links(found, query),
        default_points=DEFAULT_POINTS,
        longest=MAX_DESCRIPTION_LENGTH,
    )


@pages.view('/series/<id("ser"):series_id>', "page", "tournaments")
def show(series_id: str) -> Response:
    """Show a series: its standings, how it counts, and ten of its tournaments, by default the latest that finished."""
    series = operations.get_series(current_session(), series_id)
    tournaments = operations.list_tournaments(current_session(), series.id)
    rows = compute_standings(series, tournaments)
    numbered = numbered_page(requested_number(), ROWS_PER_PAGE, len(rows))
    near = _page_of_tournaments(tournaments)
    shown = near.rows(tournaments)
    finished = [tournament for tournament in shown if tournament.status == TournamentState.FINISHED]
    winners = _winners(finished, rows)
    return page(
        "series/show.html",
        series=series,
        description=series.description and render_untrusted(series.description),
        organisers=operations.CO_ORGANISERS.list(current_session(), series),
        tournaments=tournaments,
        near=near,
        shown=[
            {"row": tournament, "format": FORMATS[tournament.format][0], "winners": winners[tournament.id]}
            for tournament in shown
        ],
        finished=finished,
        finished_count=sum(tournament.status == TournamentState.FINISHED for tournament in tournaments),
        numbers={tournament.id: number for number, tournament in enumerate(tournaments, 1)},
        longest=MAX_DESCRIPTION_LENGTH,
        numbered=numbered,
        lines=_lines(numbered.rows(rows), finished),
    )


def name_in_terms(tournament_id: str) -> Markup | None:
    """Return the row in the terms of a tournament that names its series, or None if it is in none."""
    found = operations.find_series_of(current_session(), tournament_id)
    link = Markup('<a href="/series/{}"><bdi>{}</bdi></a>')
    links = Markup(", ").join(link.format(series.id, series.name) for series in found)
    return Markup("<div><dt>Series</dt><dd>{}</dd></div>").format(links) if found else None


def link_to_series() -> Markup:
    return Markup('<p><a href="/series">Series of tournaments →</a></p>')


def _page_of_tournaments(tournaments: Sequence[Tournament]) -> NumberedPage:
    """Return the requested page of tournaments, or the one with the latest in their order that is finished."""
    last = max((index for index, item in enumerate(tournaments) if item.status == TournamentState.FINISHED), default=0)
    is_asked = "tournaments" in request.args
    number = whole_number("tournaments", 1, LAST_PAGE) if is_asked else last // TOURNAMENTS_PER_PAGE + 1
    return numbered_page(number, TOURNAMENTS_PER_PAGE, len(tournaments), "tournaments")


def _lines(rows: Sequence[SeriesRow], finished: Sequence[Tournament]) -> list[Json]:
    """Return rows of the standings with a cell for each of these finished tournaments."""
    ids = [tournament.id for tournament in finished]
    near = [replace(row, results=tuple(item for item in row.results if item.tournament in ids)) for row in rows]
    lines = dump_rows(attach_bots(near))
    results = [{item["tournament"]: item for item in line["results"]} for line in lines]
    return [{**line, "cells": list(map(by_id.get, ids))} for line, by_id in zip(lines, results, strict=True)]


def _winners(finished: Sequence[Tournament], rows: Sequence[SeriesRow]) -> defaultdict[str, list[Json]]:
    """Return the bots on the first ranks of these tournaments, with their names, keyed by tournament id."""
    ids = {tournament.id for tournament in finished}
    won = {row.bot: {result.tournament for result in row.results if result.rank == 1} & ids for row in rows}
    found: defaultdict[str, list[Json]] = defaultdict(list)
    for row in attach_bots([row for row in rows if won[row.bot]]):
        for tournament_id in won[row.bot]:
            found[tournament_id].append({"bot": row.bot, "name": row.person.name})
    return found
