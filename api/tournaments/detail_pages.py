"""Serve the pages of one tournament: rounds, matches, entries, bracket, downloads."""

from typing import Final

from flask import Response

from api.matches.presentation import match_views
from api.pages.formatting import size
from api.pages.page import Pages, page
from api.pages.paging import cursor_links, cursor_query, numbered_page, requested_number
from api.pages.parameters import choice
from api.pagination import read_cursor
from api.tournaments import bracket_chart, pairings
from api.tournaments.access import get_started_tournament, get_visible_tournament
from api.tournaments.entry_schemas import EntryView
from api.tournaments.pages import TOURNAMENT, Json, entry_page, tournament_context
from api.tournaments.presentation import visible_entries
from api.tournaments.round_schemas import TableView
from api.views import current_session
from referee.bots import bots
from referee.errors import NotFound
from referee.matches import matches
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.states import MatchState
from referee.pairing.kinds import TournamentFormat
from referee.tournaments import round_lists
from referee.tournaments.round_lists import RoundPage
from referee.tournaments.rounds import newest_round
from referee.tournaments.states import RoundState
from referee.tournaments.tables import Tournament
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogSelection

pages = Pages("tournament_details", __name__)

MATCHES: Final = 50  # matches on a page
ROUNDS: Final = 50
TABLES: Final = 25
MAX_LISTED: Final = 64  # a round of a bracket with more tables is listed without its matches


@pages.view(f"{TOURNAMENT}/rounds", "page")
def list_rounds(tournament_id: str) -> Response:
    """Show the rounds paired so far."""
    tournament = get_started_tournament(tournament_id)
    numbered = numbered_page(requested_number(), ROUNDS, newest_round(current_session(), tournament.id))
    found = round_lists.list_rounds(current_session(), tournament.id, limit=ROUNDS, cursor=[numbered.first])
    return page("tournaments/rounds.html", **tournament_context(tournament), rounds=found.items, numbered=numbered)


@pages.view(f"{TOURNAMENT}/rounds/{pairings.ROUND}", "page")
def show_round(tournament_id: str, tournament_round: int) -> Response:
    """Show a round with its tables."""
    tournament = get_started_tournament(tournament_id)
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


@pages.view(f"{TOURNAMENT}/bracket")
def show_bracket(tournament_id: str) -> Response:
    """Show a knockout as a tree and round by round."""
    tournament = get_started_tournament(tournament_id)
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
    tournament = get_started_tournament(tournament_id)
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


def _tables_with_matches(tournament: Tournament, bracket_round: Json) -> list[Json]:
    """Return the tables of a round with their matches. Return no tables if there are more than ``MAX_LISTED``."""
    if len(bracket_round["tables"]) > MAX_LISTED:
        return []
    numbers = [table["table"] for table in bracket_round["tables"]]
    played = round_lists.matches_by_table(current_session(), tournament.id, bracket_round["tournament_round"], numbers)
    return [{**table, "matches": match_views(played.get(table["table"], []))} for table in bracket_round["tables"]]
