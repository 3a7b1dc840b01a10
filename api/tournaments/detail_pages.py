"""Pages of one tournament: rounds, matches, entries, crosstable, bracket, luck, downloads."""

from collections.abc import Callable
from typing import Final

from flask import Blueprint, Response, request

from api import pairings, standings_cache
from api.caching import CacheEntry
from api.errors import not_found
from api.pages.charts import bracket as bracket_drawing
from api.pages.charts import crosstable as heat
from api.pages.formatting import size
from api.pages.page import page, page_view
from api.pages.paging import numbered_page, requested_number
from api.pages.parameters import choice
from api.pagination import envelope, read_cursor
from api.presentation import Extended, match_views, visible_entry
from api.queries import takes
from api.tournaments.entry_schemas import EntryView
from api.tournaments.pages import ROWS_PER_PAGE, TOURNAMENT, Json, entry_page, head
from api.tournaments.round_schemas import TableView
from api.tournaments.standings_schemas import LuckRow
from api.views import record
from referee.bots import bots
from referee.errors import Conflict, NotFound
from referee.matches import matches
from referee.matches.tables import MATCH_STATES
from referee.tournaments import bulk, round_lists, tournaments
from referee.tournaments.round_lists import StagePage
from referee.tournaments.rounds import newest_round
from referee.tournaments.standings import TournamentResults
from referee.tournaments.tables import Tournament

pages = Blueprint("tournament_details", __name__)

MATCHES: Final = 50  # on a page
ROUNDS: Final = 50
TABLES: Final = 25
CROSSTABLE_ROWS: Final = 30
MAX_LISTED: Final = 64  # a larger round of a bracket is listed without its matches


@pages.get(f"{TOURNAMENT}/stages")
@takes("page")
@page_view
def list_rounds(tournament_id: str) -> Response:
    """Show the rounds paired so far."""
    tournament = _get_tournament_with_rounds(tournament_id)
    numbered = numbered_page(requested_number(), ROUNDS, newest_round(record(), tournament.id))
    found = round_lists.list_stages(record(), tournament.id, limit=ROUNDS, cursor=[numbered.first])
    return page("tournaments/rounds.html", **head(tournament), rounds=found.items, numbered=numbered)


@pages.get(f"{TOURNAMENT}/stages/{pairings.STAGE}")
@takes("page")
@page_view
def show_round(tournament_id: str, stage: int) -> Response:
    """Show a round with its tables."""
    tournament = _get_tournament_with_rounds(tournament_id)
    line = round_lists.stage_line(record(), tournament.id, stage)
    numbered = numbered_page(requested_number(), TABLES, line.tables)
    found = round_lists.stage_page(record(), tournament.id, line, first=numbered.first, limit=TABLES, most_byes=TABLES)
    return page(
        "tournaments/round.html",
        **head(tournament),
        round=line,
        newest=newest_round(record(), tournament.id),
        tables=TableView(many=True).dump(pairings.table(tournament, found, number) for number in found.tables),
        byes=_byes(found) if line.state == "over" or pairings.tells_all(tournament) else [],
        numbered=numbered,
    )


@pages.get(f"{TOURNAMENT}/matches")
@takes("cursor", "status")
@page_view
def list_matches(tournament_id: str) -> Response:
    """Show all matches of a tournament, newest first."""
    tournament = tournaments.get_tournament(record(), tournament_id)
    chosen = choice("status", MATCH_STATES)
    query = {"limit": MATCHES, "cursor": request.args.get("cursor"), "status": chosen}
    found = matches.list_matches(
        record(), tournament_id=tournament.id, status=chosen, limit=MATCHES, cursor=read_cursor(query)
    )
    return page(
        "tournaments/matches.html",
        **head(tournament),
        matches=match_views(found.items),
        chosen=chosen,
        states=MATCH_STATES,
        first=query["cursor"] is None,
        next=envelope(found, query)["next"],
    )


@pages.get(f"{TOURNAMENT}/entries")
@takes("page")
@page_view
def list_entries(tournament_id: str) -> Response:
    """Show the entries, including withdrawn ones."""
    tournament = tournaments.get_tournament(record(), tournament_id)
    numbered, found = entry_page(tournament)
    items = EntryView(many=True).dump(visible_entry(entry, bot) for entry, bot in found)
    substitutes = bots.names_of(record(), [entry["substitute"] for entry in items if entry["substitute"]])
    return page("tournaments/entries.html", **head(tournament), items=items, substitutes=substitutes, numbered=numbered)


@pages.get(f"{TOURNAMENT}/crosstable")
@takes("page")
@page_view
def show_crosstable(tournament_id: str) -> Response:
    """Show the crosstable; with many entrants, for each page of the standings by itself."""
    return _from_results("tournaments/crosstable.html", tournament_id, _crosstable)


@pages.get(f"{TOURNAMENT}/luck")
@takes("page")
@page_view
def show_luck(tournament_id: str) -> Response:
    """Show the scores adjusted for the luck of the cards."""
    return _from_results("tournaments/luck.html", tournament_id, _luck)


@pages.get(f"{TOURNAMENT}/bracket")
@page_view
def show_bracket(tournament_id: str) -> Response:
    """Show a knockout as a tree and round by round."""
    tournament = _get_started_tournament(tournament_id)
    if tournament.format != "knockout":
        raise NotFound("bracket", tournament.id)
    bracket = pairings.bracket(tournament)
    return page(
        "tournaments/bracket.html",
        **head(tournament),
        drawing=bracket_drawing.tree(bracket, tournament.name),
        rounds=[{**level, "tables": _tables_with_matches(tournament, level)} for level in bracket["stages"]],
        to_come=bracket["to_come"],
        most=MAX_LISTED,
    )


@pages.get(f"{TOURNAMENT}/downloads")
@page_view
def list_downloads(tournament_id: str) -> Response:
    """Show the downloads of a tournament."""
    tournament = _get_started_tournament(tournament_id)
    extent = bulk.find_scope(record(), tournament.id, bulk.DownloadCursor())
    stored = bulk.measure_logs(record(), tournament.id)
    return page(
        "tournaments/downloads.html", **head(tournament), extent=extent, size=size(stored.size_bytes), rows=stored.rows
    )


def _byes(found: StagePage) -> list[Json]:
    byes = found.stage.byes[:TABLES]
    return [{**pairings.bot_reference(bye["entrant"], found.names), "reason": bye["reason"]} for bye in byes]


def _from_results(
    template: str, tournament_id: str, context: Callable[[str, CacheEntry[TournamentResults], int], Json]
) -> Response:
    """Return a page of what ``context`` computes from the results, or of the reason why there are too many."""
    tournament = _get_started_tournament(tournament_id)
    number = requested_number()
    try:
        kept = standings_cache.tournament_entry(tournament.id)
    except Conflict as error:
        return page(template, **head(tournament), refusal=str(error))
    return page(template, **head(tournament), **context(tournament.id, kept, number))


def _crosstable(tournament_id: str, kept: CacheEntry[TournamentResults], number: int) -> Json:
    table = standings_cache.table(kept)
    numbered = numbered_page(number, CROSSTABLE_ROWS, len(table))
    rows = numbered.rows(table)
    names = standings_cache.names(tournament_id, [str(row.entrant) for row in rows])
    lines = [(row.rank, str(row.entrant), names[str(row.entrant)]) for row in rows]
    grid = heat.grid(lines, standings_cache.results_by_opponent(kept))
    return {"grid": grid, "levels": heat.LEVELS, "numbered": numbered}


def _luck(tournament_id: str, kept: CacheEntry[TournamentResults], number: int) -> Json:
    table, adjusted = standings_cache.table(kept), standings_cache.luck_adjusted_scores(kept)
    found = [(row, less) for row in table if (less := adjusted[str(row.entrant)]) is not None]
    compared = [row for row, less in sorted(found, key=lambda pair: -pair[1].points.value)]
    numbered = numbered_page(number, ROWS_PER_PAGE, len(compared))
    named = standings_cache.attach_people(tournament_id, numbered.rows(compared))
    lines = LuckRow(many=True).dump(Extended(row, adjusted=adjusted[str(row.entrant)]) for row in named)
    return {"lines": lines, "left_out": len(table) - len(compared), "numbered": numbered}


def _tables_with_matches(tournament: Tournament, bracket_round: Json) -> list[Json]:
    """Return the tables of a round with their matches; none for a huge round, which has its own page."""
    if len(bracket_round["tables"]) > MAX_LISTED:
        return []
    numbers = [table["table"] for table in bracket_round["tables"]]
    played = round_lists.matches_by_table(record(), tournament.id, bracket_round["stage"], numbers)
    return [{**table, "matches": match_views(played.get(table["table"], []))} for table in bracket_round["tables"]]


def _get_started_tournament(tournament_id: str) -> Tournament:
    """Return a tournament that has started. Raise a 404 otherwise: these pages do not exist before the start."""
    tournament = tournaments.get_tournament(record(), tournament_id)
    if tournament.started_at is None:
        raise not_found()
    return tournament


def _get_tournament_with_rounds(tournament_id: str) -> Tournament:
    tournament = _get_started_tournament(tournament_id)
    if tournament.format == "ladder":
        raise not_found()
    return tournament
