"""Serve the pages of a tournament with its crosstable, results by round and luck, and add what decided it to others."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from flask import Response, request
from markupsafe import Markup

from api.caching import CacheEntry
from api.errors import not_found
from api.extended import Extended
from api.pages.formatting import format_signed
from api.pages.page import Pages, page
from api.pages.page_places import render_section
from api.pages.paging import NumberedPage, numbered_page, requested_number
from api.pages.parameters import whole_number
from api.tournaments import standings_cache
from api.tournaments.access import get_started_tournament
from api.tournaments.pages import ROWS_PER_PAGE, TOURNAMENT, tournament_context
from api.views import current_session
from referee.errors import Conflict
from referee.matches.states import DealSharing
from referee.pairing.kinds import TournamentFormat
from referee.tournaments.rounds import newest_round
from referee.tournaments.standings import TournamentResults
from referee.tournaments.tables import Tournament
from referee_extras.analysis import crosstable_grid as heat
from referee_extras.analysis import results
from referee_extras.analysis.by_round import RoundScore
from referee_extras.analysis.facts import load_facts
from referee_extras.analysis.luck import LuckAdjusted
from referee_extras.analysis.luck_bar import luck_bar
from referee_extras.analysis.schemas import LuckRow

pages = Pages("analysis", __name__, template_folder="templates")

Json = dict[str, Any]
CROSSTABLE_ROWS: Final = 30
ROUND_COLUMNS: Final = 10  # rounds in the table by rounds, the last ones unless others are chosen
DOCUMENTS: Final = {
    "crosstable": "points of each bot against each opponent",
    "luck": "luck-adjusted scores",
    "strengths": "strengths with intervals",
}


@pages.view(f"{TOURNAMENT}/crosstable", "page")
def show_crosstable(tournament_id: str) -> Response:
    """Show the crosstable. With many entrants, a page shows only the entrants of one page of the standings."""
    return _from_results("analysis/crosstable.html", tournament_id, _crosstable)


@pages.view(f"{TOURNAMENT}/by-round", "page", "rounds")
def show_by_round(tournament_id: str) -> Response:
    """Show the results of a Swiss tournament with one row an entrant and one column a round."""
    if get_started_tournament(tournament_id).format != TournamentFormat.SWISS:
        raise not_found()
    return _from_results("analysis/by_round.html", tournament_id, _by_round)


@pages.view(f"{TOURNAMENT}/luck", "page")
def show_luck(tournament_id: str) -> Response:
    """Show the scores adjusted for the luck of the cards."""
    return _from_results("analysis/luck.html", tournament_id, _luck)


def tabs(*, tournament: Tournament, here: str) -> Markup | None:
    """Return the tabs of these pages, or None before the start. ``here`` is the end of the path of the page shown."""
    if tournament.started_at is None:
        return None
    paths = {"/crosstable": "Crosstable"}
    if tournament.format == TournamentFormat.SWISS:
        paths = {"/by-round": "By round", **paths}
    if tournament.deal_sharing != DealSharing.OWN:
        paths["/luck"] = "Luck"
    current = Markup(' aria-current="page"')
    tab = Markup('<li><a href="/tournaments/{}{}"{}>{}</a></li>')
    return Markup("").join(
        tab.format(tournament.id, path, current if here == path else "", name) for path, name in paths.items()
    )


def list_documents(*, at: str) -> Markup:
    """Return the entries of a list with the operations of the API. ``at`` is the path of those of the tournament."""
    entry = Markup('<li><a href="{}/{}"><code>/{}</code></a> {}</li>')
    return Markup("").join(entry.format(at, name, name, what) for name, what in DOCUMENTS.items())


def facts_of_result(*, tournament: Tournament, bracket: Json | None) -> Markup:
    """Return the facts below the podium of a finished tournament. ``bracket`` is that of a knockout."""
    found = load_facts(tournament, standings_cache.tournament_entry(tournament.id), bracket)
    return render_section("analysis/facts.html", tournament=tournament, facts=found)


def _from_results(
    template: str, tournament_id: str, context: Callable[[str, CacheEntry[TournamentResults], int], Json]
) -> Response:
    """Render ``template`` with what ``context`` computes from the results, or with the reason why it cannot."""
    tournament = get_started_tournament(tournament_id)
    number = requested_number()
    try:
        kept = standings_cache.tournament_entry(tournament.id)
    except Conflict as error:
        return page(template, **tournament_context(tournament), refusal=str(error))
    return page(template, **tournament_context(tournament), **context(tournament.id, kept, number))


def _crosstable(tournament_id: str, kept: CacheEntry[TournamentResults], number: int) -> Json:
    table = standings_cache.ranked_entrants(kept)
    numbered = numbered_page(number, CROSSTABLE_ROWS, len(table))
    rows = numbered.rows(table)
    names = standings_cache.load_names(tournament_id, [str(row.entrant) for row in rows])
    lines = [(row.rank, str(row.entrant), names[str(row.entrant)]) for row in rows]
    grid = heat.crosstable_grid(lines, results.results_by_opponent(kept))
    return {"grid": grid, "levels": heat.LEVELS, "numbered": numbered}


def _by_round(tournament_id: str, kept: CacheEntry[TournamentResults], number: int) -> Json:
    table, scores = standings_cache.ranked_entrants(kept), results.round_scores(kept)
    numbered = numbered_page(number, CROSSTABLE_ROWS, len(table))
    paired = newest_round(current_session(), tournament_id)
    last = max(1, -(-paired // ROUND_COLUMNS))
    span = whole_number("rounds", 1, last) if "rounds" in request.args else last
    spans = NumberedPage(span, ROUND_COLUMNS, paired)
    columns = spans.rows(range(1, paired + 1))
    lines = [
        (str(row.entrant), [scores[row.entrant].get(column) for column in columns]) for row in numbered.rows(table)
    ]
    shown = {bot for bot, _ in lines}
    if kept.made.seats == 2:  # otherwise there are too many opponents to name
        shown |= {str(opponent) for _, row in lines for score in row if score for opponent in score.opponents}
    names, indexes = standings_cache.load_names(tournament_id, sorted(shown)), standings_cache.row_indexes(kept)
    grid = [
        {
            "number": numbered.first + position,
            "bot": bot,
            "name": names[bot],
            "cells": [score and _round_cell(score, names if kept.made.seats == 2 else {}, indexes) for score in row],
        }
        for position, (bot, row) in enumerate(lines, 1)
    ]
    return {"grid": grid, "columns": columns, "numbered": numbered, "spans": spans}


def _round_cell(score: RoundScore, names: Mapping[str, str], indexes: Mapping[str, int]) -> Json:
    """Return a cell of the table by rounds. Opponents without a name in ``names`` are shown by their rows."""
    opponents = sorted(map(str, score.opponents), key=indexes.__getitem__)
    return {
        "bye": score.is_bye,
        "opponents": [{"name": names.get(bot), "number": indexes[bot] + 1} for bot in opponents],
        "points": float(score.points),
        "total": float(score.total),
        "level": heat.score_level(float(score.points / score.matches)),
    }


def _luck(tournament_id: str, kept: CacheEntry[TournamentResults], number: int) -> Json:
    table, adjusted = standings_cache.ranked_entrants(kept), results.luck_adjusted_scores(kept)
    compared = [(row, score) for row in table if (score := adjusted[row.entrant]) is not None]
    compared.sort(key=lambda pair: -pair[1].points.value)
    numbered = numbered_page(number, ROWS_PER_PAGE, len(compared))
    shown = numbered.rows(compared)
    named = standings_cache.attach_people(tournament_id, [row for row, _ in shown])
    lines = LuckRow(many=True).dump(Extended(row, adjusted=adjusted[row.entrant]) for row in named)
    most = max((_widest(score) for _, score in shown), default=1.0)
    for line, (_, score) in zip(lines, shown, strict=True):
        line |= _luck_chart(score, most, line["name"])
    return {"lines": lines, "left_out": len(table) - len(compared), "numbered": numbered}


def _widest(score: LuckAdjusted) -> float:
    """Return how far from zero the chart of a score reaches."""
    return max(abs(float(score.points.value)) + (score.points.error or 0), abs(float(score.cards) - 0.5), 0.01)


def _luck_chart(score: LuckAdjusted, most: float, name: str) -> Json:
    value, luck = float(score.points.value), float(score.cards) - 0.5
    title = f"{name}: {format_signed(value, 3)} by play, {format_signed(luck, 3)} by cards"
    return {"luck": luck, "chart": luck_bar(value, score.points.error, luck, most, title)}
