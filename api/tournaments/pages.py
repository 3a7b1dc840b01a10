"""Serve the list of tournaments and the pages of each: front page, standings, rounds, matches, entries, downloads."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from flask import Response

from api.caching import CacheEntry
from api.matches.presentation import match_views
from api.pages.formatting import size
from api.pages.page import Pages, page
from api.pages.paging import NumberedPage, cursor_links, cursor_query, numbered_page, requested_number
from api.pages.parameters import choice
from api.pages.untrusted_markdown import render_untrusted
from api.pagination import read_cursor
from api.tournaments import bracket_chart, pairings, standings_cache, terms
from api.tournaments.access import get_started_tournament, get_visible_tournament
from api.tournaments.entry_schemas import EntryView
from api.tournaments.podium import find_podium
from api.tournaments.presentation import editable_terms, visible_entries
from api.tournaments.round_schemas import TableView
from api.tournaments.schemas import ProgressView
from api.tournaments.standings_schemas import StandingsRow
from api.views import current_session
from referee.bots import bots
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.errors import Conflict, NotFound
from referee.games import catalogue
from referee.matches import matches, voids
from referee.matches.deals.ended_openings import OpeningFilter, count_ended_openings
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.states import MatchState, VoidState
from referee.matches.voids import VoidFilter
from referee.pairing.kinds import TournamentFormat
from referee.standings.presentation import deciding_columns, point_digits, shown_tie_breaks
from referee.tournaments import entries as entering
from referee.tournaments import progress as progresses
from referee.tournaments import round_lists, round_timing, tournaments, watching
from referee.tournaments.rounds import newest_round
from referee.tournaments.standings import TournamentResults
from referee.tournaments.states import IN_PROGRESS, OVER, RoundState, TournamentState
from referee.tournaments.table_options import table_sizes
from referee.tournaments.tables import Tournament, TournamentEntry
from referee.tournaments.term_words import describe_terms
from referee.tournaments.terms import FORMATS
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogSelection

pages = Pages("tournaments", __name__)

Json = dict[str, Any]
TOURNAMENT: Final = '/tournaments/<id("trn"):tournament_id>'
TOURNAMENTS_PER_GROUP: Final = 25  # tournaments in each group on a page
ROWS_PER_PAGE: Final = 50  # rows of the standings on a page, and in a message of the stream
NEWEST: Final = 8  # matches on the front page
MAX_TIES: Final = 8  # tables of a round of a bracket that the front page lists for narrow screens
MATCHES: Final = 50  # matches on a page
ROUNDS: Final = 50
TABLES: Final = 25
MAX_LISTED: Final = 64  # a round of a bracket with more tables is listed without its matches


@pages.view("/tournaments", "cursor", "game", "status")
def contents() -> Response:
    """Show tournaments in progress, open for entries and finished, or only those of one state or one game."""
    status, game = choice("status", [*TournamentState]), choice("game", sorted(catalogue()))
    query = cursor_query(TOURNAMENTS_PER_GROUP, status=status, game=game)
    place = {"limit": TOURNAMENTS_PER_GROUP, "cursor": read_cursor(query)}
    found = tournaments.list_tournaments(current_session(), status=status or OVER, game=game, **place)
    groups = {"rest": found.items}
    if query["cursor"] is None and not status:
        for group, states in (("running", IN_PROGRESS), ("open", [TournamentState.OPEN])):
            listed = tournaments.list_tournaments(
                current_session(), status=states, game=game, limit=TOURNAMENTS_PER_GROUP
            )
            groups[group] = listed.items
    return page(
        "tournaments/contents.html",
        groups=groups,
        counted=_count_entries([tournament for group in groups.values() for tournament in group]),
        chosen=status,
        game=game,
        **cursor_links(found, query),
        formats=FORMATS,
        describe_sizes=terms.describe_sizes,
        states=[*TournamentState],
    )


@pages.view(TOURNAMENT)
def show(tournament_id: str) -> Response:
    """Show the front page: live standings, newest matches, terms."""
    tournament = get_visible_tournament(tournament_id)
    bracket = visible_bracket(tournament)
    context = tournament_context(tournament)
    sizes = table_sizes(tournament, context["entries"]["entered"])
    extra = {"table_sizes": sizes, "requires_code": tournament.join_code is not None}
    return page(
        "tournaments/show.html",
        **context,
        table=standings_context(tournament, 1),
        bracket=bracket and draw_bracket(bracket, tournament.name),
        podium=find_podium(tournament),
        bracket_rounds=bracket,
        newest=match_views(watching.list_newest_ended(current_session(), tournament.id, limit=NEWEST)),
        description=tournament.description and render_untrusted(tournament.description),
        lines=list(describe_terms(editable_terms(tournament) | extra)),
        ended_openings=count_ended_openings(current_session(), OpeningFilter(tournament_id=tournament.id)),
        voided=voids.count_voided_matches(current_session(), tournament.id),
        proposed_voids=voids.count_voids(current_session(), VoidFilter(None, tournament.id, VoidState.PROPOSED)),
    )


@pages.view(f"{TOURNAMENT}/standings", "columns", "page")
def standings(tournament_id: str) -> Response:
    """Show the standings, page by page, with a few columns or with all."""
    tournament = get_visible_tournament(tournament_id)
    all_columns = choice("columns", ["all"]) is not None
    table = standings_context(tournament, requested_number(), all_columns=all_columns)
    return tournament_page("standings", tournament, table=table)


def tournament_page(name: str, tournament: Tournament, **context: Any) -> Response:
    """Return the page ``name`` of a tournament, with its heading."""
    return page(f"tournaments/{name}.html", **tournament_context(tournament), **context)


def tournament_context(tournament: Tournament) -> Json:
    """Return the template values that every page of a tournament needs for its heading."""
    found = progresses.load_progress(current_session(), tournament.id)
    entries = asdict(entering.count_by_state(current_session(), tournament.id))
    # The script compares this with messages of the stream, except for the estimated end, which changes too often.
    known = {**asdict(found), "estimated_end": None, "entries": entries}
    return {
        "tournament": tournament,
        "next_round": round_timing.next_round_start(current_session(), tournament),
        "now": current_time(current_session()),
        "organisers": tournaments.CO_ORGANISERS.list(current_session(), tournament),
        "progress": found,
        "estimated_end": ProgressView().dump(found)["estimated_end"],
        "entries": entries,
        "known": {**known, "status": tournament.status, "reason": tournament.status_reason},
        "over": tournament.status in OVER,
        "format": FORMATS[tournament.format],
        "terms": terms,
    }


def standings_context(tournament: Tournament, number: int, *, all_columns: bool = False) -> Json | None:
    """Return page ``number`` of the standings as template values, or None before the start."""
    if tournament.started_at is None:
        return None
    format, seats = tournament.format, tournament.seats
    columns = shown_tie_breaks(format, seats, all_columns=all_columns)
    try:
        kept = standings_cache.tournament_entry(tournament.id)
    except Conflict as error:
        return {"refusal": str(error)}
    rows = standings_cache.ranked_entrants(kept)
    numbered = numbered_page(number, ROWS_PER_PAGE, len(rows))
    return {
        "columns": columns,
        "all_columns": all_columns,
        "deciding": deciding_columns(format, seats),
        "digits": point_digits(seats),
        "blank": _blank_row(),
        "script": {
            "columns": [{"name": column.name, "digits": column.digits} for column in columns],
            "digits": point_digits(seats),
            "all_columns": all_columns,
            "substitute": tournament.substitute is not None,
            "seq": kept.made.as_of_seq,
        },
        "lines": _lines(kept, tournament.id, numbered.rows(rows), with_bars=all_columns),
        "numbered": numbered,
        "results": len(kept.made.outcomes),
    }


def entry_page(tournament: Tournament) -> tuple[NumberedPage, list[tuple[TournamentEntry, Bot]]]:
    """Return the requested page of entries with their bots, including withdrawn ones."""
    total = entering.count_entries(current_session(), tournament.id)
    numbered = numbered_page(requested_number(), ROWS_PER_PAGE, total)
    found = entering.list_entries(current_session(), tournament.id, limit=ROWS_PER_PAGE, cursor=numbered.cursor)
    return numbered, found.items


def visible_bracket(tournament: Tournament) -> Json | None:
    """Return the bracket of a knockout in the format of the API, or None if no round is paired."""
    if tournament.format != TournamentFormat.KNOCKOUT or tournament.started_at is None:
        return None
    bracket = pairings.visible_bracket(tournament)
    return bracket if bracket["rounds"] else None


def draw_bracket(bracket: Json, name: str) -> Json:
    """Return the drawing of a bracket, and its last rounds as a list."""
    last = [level for level in bracket["rounds"] if len(level["tables"]) <= MAX_TIES]
    return {"drawing": bracket_chart.bracket_tree(bracket, name), "rounds": last}


@pages.view(f"{TOURNAMENT}/rounds", "page")
def list_rounds(tournament_id: str) -> Response:
    """Show the rounds paired so far."""
    tournament = get_started_tournament(tournament_id)
    numbered = numbered_page(requested_number(), ROUNDS, newest_round(current_session(), tournament.id))
    found = round_lists.list_rounds(current_session(), tournament.id, limit=ROUNDS, cursor=[numbered.first])
    return tournament_page("rounds", tournament, rounds=found.items, numbered=numbered)


@pages.view(f"{TOURNAMENT}/rounds/{pairings.ROUND}", "page")
def show_round(tournament_id: str, tournament_round: int) -> Response:
    """Show a round with its tables."""
    tournament = get_started_tournament(tournament_id)
    summary = round_lists.get_round_summary(current_session(), tournament.id, tournament_round)
    numbered = numbered_page(requested_number(), TABLES, summary.tables)
    found = round_lists.get_round_page(
        current_session(), tournament.id, summary, first=numbered.first, limit=TABLES, most_byes=TABLES
    )
    visible = summary.state == RoundState.OVER or pairings.may_show_entrants(tournament)
    return tournament_page(
        "round",
        tournament,
        round=summary,
        newest=newest_round(current_session(), tournament.id),
        tables=TableView(many=True).dump(pairings.visible_table(tournament, found, number) for number in found.tables),
        byes=pairings.visible_byes(found)[:TABLES] if visible else [],
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
    return tournament_page(
        "matches",
        tournament,
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
    return tournament_page("entries", tournament, items=items, substitutes=substitutes, numbered=numbered)


@pages.view(f"{TOURNAMENT}/bracket")
def show_bracket(tournament_id: str) -> Response:
    """Show a knockout as a tree and round by round."""
    tournament = get_started_tournament(tournament_id)
    if tournament.format != TournamentFormat.KNOCKOUT:
        raise NotFound("bracket", tournament.id)
    bracket = pairings.visible_bracket(tournament)
    return tournament_page(
        "bracket",
        tournament,
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
    return tournament_page("downloads", tournament, found=found, size=size(stored.size_bytes), rows=stored.rows)


def _tables_with_matches(tournament: Tournament, bracket_round: Json) -> list[Json]:
    """Return the tables of a round with their matches. Return no tables if there are more than ``MAX_LISTED``."""
    if len(bracket_round["tables"]) > MAX_LISTED:
        return []
    numbers = [table["table"] for table in bracket_round["tables"]]
    played = round_lists.matches_by_table(current_session(), tournament.id, bracket_round["tournament_round"], numbers)
    return [{**table, "matches": match_views(played.get(table["table"], []))} for table in bracket_round["tables"]]


def _lines(
    kept: CacheEntry[TournamentResults], tournament_id: str, rows: Sequence[Any], *, with_bars: bool
) -> list[Json]:
    ids = [str(row.entrant) for row in rows]
    substitutes = entering.load_substitute_names(current_session(), tournament_id, ids)
    found = standings_cache.attach_error_bars(kept, tournament_id, rows, computed=with_bars)
    views = StandingsRow(many=True).dump(found)
    return [{**view, "substitute": substitutes.get(view["bot"])} for view in views]


def _blank_row() -> Json:
    """Return an empty row, which the script uses as a template."""
    numbers = {"matches": 0, "points": 0, "points_per_match": None, "error_bar": {"low": None, "high": None}}
    return {**dict.fromkeys(StandingsRow().fields, ""), **numbers, "tie_breaks": [], "substitute": ""}


def _count_entries(listed: Sequence[Tournament]) -> dict[str, Json]:
    """Return the number of entered bots, and the progress of running and paused tournaments, keyed by tournament id."""
    ids = [tournament.id for tournament in listed]
    entered = entering.count_entered(current_session(), ids)
    active = {tournament.id for tournament in listed if tournament.status in IN_PROGRESS}
    progress = {id: progresses.load_progress(current_session(), id) for id in active}
    return {id: {"entered": entered.get(id, 0), "progress": progress.get(id)} for id in ids}
