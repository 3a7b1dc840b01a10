"""Serve the pages of one tournament: rounds, matches, entries, crosstable, bracket, luck, downloads."""

from collections.abc import Callable, Mapping
from typing import Final

from flask import Response, request

from api.caching import CacheEntry
from api.errors import not_found
from api.extended import Extended
from api.matches.presentation import match_views
from api.pages.charts import crosstable as heat
from api.pages.charts import luck_bar
from api.pages.formatting import format_signed, size
from api.pages.page import Pages, page
from api.pages.paging import NumberedPage, cursor_links, cursor_query, numbered_page, requested_number
from api.pages.parameters import choice, whole_number
from api.pagination import read_cursor
from api.tournaments import bracket_chart, pairings, standings_cache
from api.tournaments.access import get_visible_tournament
from api.tournaments.entry_schemas import EntryView
from api.tournaments.pages import ROWS_PER_PAGE, TOURNAMENT, Json, entry_page, tournament_context
from api.tournaments.presentation import visible_entries
from api.tournaments.round_schemas import TableView
from api.tournaments.standings_schemas import LuckRow
from api.views import current_session
from referee.bots import bots
from referee.errors import Conflict, NotFound
from referee.matches import matches
from referee.matches.match_filters import MatchFilter
from referee.matches.states import MatchState
from referee.pairing.kinds import TournamentFormat
from referee.standings import LuckAdjusted
from referee.standings.by_round import RoundScore
from referee.tournaments import round_lists
from referee.tournaments.round_lists import RoundPage
from referee.tournaments.rounds import newest_round
from referee.tournaments.standings import TournamentResults
from referee.tournaments.states import RoundState
from referee.tournaments.tables import Tournament
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogSelection

pages = Pages("tournament_details", __name__)

MATCHES: Final = 50  # matches on a page
ROUNDS: Final = 50
TABLES: Final = 25
CROSSTABLE_ROWS: Final = 30
ROUND_COLUMNS: Final = 10  # rounds in the table by rounds, the last ones unless others are chosen
MAX_LISTED: Final = 64  # a round of a bracket with more tables is listed without its matches


@pages.view(f"{TOURNAMENT}/rounds", "page")
def list_rounds(tournament_id: str) -> Response:
    """Show the rounds paired so far."""
    tournament = _get_started_tournament(tournament_id)
    numbered = numbered_page(requested_number(), ROUNDS, newest_round(current_session(), tournament.id))
    found = round_lists.list_rounds(current_session(), tournament.id, limit=ROUNDS, cursor=[numbered.first])
    return page("tournaments/rounds.html", **tournament_context(tournament), rounds=found.items, numbered=numbered)


@pages.view(f"{TOURNAMENT}/rounds/{pairings.ROUND}", "page")
def show_round(tournament_id: str, tournament_round: int) -> Response:
    """Show a round with its tables."""
    tournament = _get_started_tournament(tournament_id)
    summary = round_lists.get_round_summary(current_session(), tournament.id, tournament_round)
    numbered = numbered_page(requested_number(), TABLES, summary.tables)
    found = round_lists.get_round_page(
        current_session(), tournament.id, summary, first=numbered.first, limit=TABLES, most_byes=TABLES
    )
    return page(
        "tournaments/round.html",
        **tournament_context(tournament),
        round=summary,
        newest=newest_round(current_session(), tournament.id),
        tables=TableView(many=True).dump(pairings.visible_table(tournament, found, number) for number in found.tables),
        byes=_byes(found) if summary.state == RoundState.OVER or pairings.may_show_entrants(tournament) else [],
        numbered=numbered,
    )


@pages.view(f"{TOURNAMENT}/matches", "cursor", "status")
def list_matches(tournament_id: str) -> Response:
    """Show all matches of a tournament, newest first."""
    tournament = get_visible_tournament(tournament_id)
    chosen = choice("status", [*MatchState])
    query = cursor_query(MATCHES, status=chosen)
    wanted = MatchFilter(tournament_id=tournament.id, status=chosen)
    found = matches.list_matches(current_session(), wanted, limit=MATCHES, cursor=read_cursor(query))
    return page(
        "tournaments/matches.html",
        **tournament_context(tournament),
        matches=match_views(found.items),
        chosen=chosen,
        states=[*MatchState],
        **cursor_links(found, query),
    )


@pages.view(f"{TOURNAMENT}/entries", "page")
def list_entries(tournament_id: str) -> Response:
    """Show the entries, including withdrawn ones."""
    tournament = get_visible_tournament(tournament_id)
    numbered, found = entry_page(tournament)
    items = EntryView(many=True).dump(visible_entries(found))
    substitutes = bots.names_of(current_session(), [entry["substitute"] for entry in items if entry["substitute"]])
    context = tournament_context(tournament)
    return page("tournaments/entries.html", **context, items=items, substitutes=substitutes, numbered=numbered)


@pages.view(f"{TOURNAMENT}/crosstable", "page")
def show_crosstable(tournament_id: str) -> Response:
    """Show the crosstable. With many entrants, a page shows only the entrants of one page of the standings."""
    return _from_results("tournaments/crosstable.html", tournament_id, _crosstable)


@pages.view(f"{TOURNAMENT}/by-round", "page", "rounds")
def show_by_round(tournament_id: str) -> Response:
    """Show the results of a Swiss tournament with one row an entrant and one column a round."""
    if _get_started_tournament(tournament_id).format != TournamentFormat.SWISS:
        raise not_found()
    return _from_results("tournaments/by_round.html", tournament_id, _by_round)


@pages.view(f"{TOURNAMENT}/luck", "page")
def show_luck(tournament_id: str) -> Response:
    """Show the scores adjusted for the luck of the cards."""
    return _from_results("tournaments/luck.html", tournament_id, _luck)


@pages.view(f"{TOURNAMENT}/bracket")
def show_bracket(tournament_id: str) -> Response:
    """Show a knockout as a tree and round by round."""
    tournament = _get_started_tournament(tournament_id)
    if tournament.format != TournamentFormat.KNOCKOUT:
        raise NotFound("bracket", tournament.id)
    bracket = pairings.visible_bracket(tournament)
    return page(
        "tournaments/bracket.html",
        **tournament_context(tournament),
        drawing=bracket_chart.bracket_tree(bracket, tournament.name),
        rounds=[{**level, "tables": _tables_with_matches(tournament, level)} for level in bracket["rounds"]],
        to_come=bracket["to_come"],
        most=MAX_LISTED,
    )


@pages.view(f"{TOURNAMENT}/downloads")
def list_downloads(tournament_id: str) -> Response:
    """Show the downloads of a tournament."""
    tournament = _get_started_tournament(tournament_id)
    found = log_downloads.find_logs(current_session(), LogSelection(tournament_id=tournament.id))
    stored = log_downloads.measure_logs(current_session(), tournament.id)
    return page(
        "tournaments/downloads.html",
        **tournament_context(tournament),
        found=found,
        size=size(stored.size_bytes),
        rows=stored.rows,
    )


def _byes(found: RoundPage) -> list[Json]:
    byes = found.tournament_round.byes[:TABLES]
    return [{**pairings.bot_reference(bye["entrant"], found.names), "reason": bye["reason"]} for bye in byes]


def _from_results(
    template: str, tournament_id: str, context: Callable[[str, CacheEntry[TournamentResults], int], Json]
) -> Response:
    """Render ``template`` with what ``context`` computes from the results, or with the reason why it cannot."""
    tournament = _get_started_tournament(tournament_id)
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
    grid = heat.crosstable_grid(lines, standings_cache.results_by_opponent(kept))
    return {"grid": grid, "levels": heat.LEVELS, "numbered": numbered}


def _by_round(tournament_id: str, kept: CacheEntry[TournamentResults], number: int) -> Json:
    table, scores = standings_cache.ranked_entrants(kept), standings_cache.round_scores(kept)
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
    table, adjusted = standings_cache.ranked_entrants(kept), standings_cache.luck_adjusted_scores(kept)
    found = [(row, less) for row in table if (less := adjusted[str(row.entrant)]) is not None]
    compared = [row for row, less in sorted(found, key=lambda pair: -pair[1].points.value)]
    numbered = numbered_page(number, ROWS_PER_PAGE, len(compared))
    named = standings_cache.attach_people(tournament_id, numbered.rows(compared))
    lines = LuckRow(many=True).dump(Extended(row, adjusted=adjusted[str(row.entrant)]) for row in named)
    most = max((_widest(adjusted[str(row.entrant)]) for row in numbered.rows(compared)), default=1.0)
    for line, row in zip(lines, numbered.rows(compared), strict=True):
        line |= _luck_chart(adjusted[str(row.entrant)], most, line["name"])
    return {"lines": lines, "left_out": len(table) - len(compared), "numbered": numbered}


def _widest(score: LuckAdjusted | None) -> float:
    """Return how far from zero the chart of a score reaches."""
    assert score is not None, "only compared entrants are drawn"
    return max(abs(float(score.points.value)) + (score.points.error or 0), abs(float(score.cards) - 0.5), 0.01)


def _luck_chart(score: LuckAdjusted | None, most: float, name: str) -> Json:
    assert score is not None, "only compared entrants are drawn"
    value, luck = float(score.points.value), float(score.cards) - 0.5
    title = f"{name}: {format_signed(value, 3)} by play, {format_signed(luck, 3)} by cards"
    return {"luck": luck, "chart": luck_bar(value, score.points.error, luck, most, title)}


def _tables_with_matches(tournament: Tournament, bracket_round: Json) -> list[Json]:
    """Return the tables of a round with their matches. Return no tables if there are more than ``MAX_LISTED``."""
    if len(bracket_round["tables"]) > MAX_LISTED:
        return []
    numbers = [table["table"] for table in bracket_round["tables"]]
    played = round_lists.matches_by_table(current_session(), tournament.id, bracket_round["tournament_round"], numbers)
    return [{**table, "matches": match_views(played.get(table["table"], []))} for table in bracket_round["tables"]]


def _get_started_tournament(tournament_id: str) -> Tournament:
    """Return the tournament. Raise a 404 if it has not started, since these pages do not exist before the start."""
    tournament = get_visible_tournament(tournament_id)
    if tournament.started_at is None:
        raise not_found()
    return tournament
