"""Serve the list of tournaments, and the front page and standings of each. ``detail_pages`` has the other pages."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from flask import Response

from api.caching import CacheEntry
from api.matches.presentation import match_views
from api.pages.page import Pages, page
from api.pages.paging import NumberedPage, cursor_links, cursor_query, numbered_page, requested_number
from api.pages.parameters import choice
from api.pages.untrusted_markdown import render_untrusted
from api.pagination import read_cursor
from api.tournaments import bracket_chart, pairings, standings_cache, terms
from api.tournaments.access import get_visible_tournament
from api.tournaments.podium import find_podium
from api.tournaments.presentation import editable_terms
from api.tournaments.schemas import ProgressView
from api.tournaments.standings_schemas import StandingsRow
from api.views import current_session
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.errors import Conflict
from referee.games import catalogue
from referee.matches import voids
from referee.matches.deals.ended_openings import OpeningFilter, count_ended_openings
from referee.matches.states import VoidState
from referee.matches.voids import VoidFilter
from referee.pairing.kinds import TournamentFormat
from referee.standings.presentation import (
    deciding_columns,
    point_digits,
    shown_tie_breaks,
)
from referee.tournaments import entries as entering
from referee.tournaments import organisers, round_timing, tournaments, watching
from referee.tournaments import progress as progresses
from referee.tournaments.standings import TournamentResults
from referee.tournaments.states import IN_PROGRESS, OVER, TournamentState
from referee.tournaments.table_options import table_sizes
from referee.tournaments.tables import Tournament, TournamentEntry
from referee.tournaments.term_words import describe_terms
from referee.tournaments.terms import FORMATS

pages = Pages("tournaments", __name__)

Json = dict[str, Any]
TOURNAMENT: Final = '/tournaments/<id("trn"):tournament_id>'
TOURNAMENTS_PER_GROUP: Final = 25  # tournaments in each group on a page
ROWS_PER_PAGE: Final = 50  # rows of the standings on a page, and in a message of the stream
NEWEST: Final = 8  # matches on the front page
MAX_TIES: Final = 8  # tables of a round of a bracket that the front page lists for narrow screens


@pages.view("/tournaments", "cursor", "game", "status")
def contents() -> Response:
    """Show tournaments in progress, open for entries and finished, or only those of one state or one game."""
    status, game = choice("status", [*TournamentState]), choice("game", sorted(catalogue()))
    query = cursor_query(TOURNAMENTS_PER_GROUP, status=status, game=game)
    first = query["cursor"] is None
    rest = status or OVER
    found = tournaments.list_tournaments(
        current_session(), status=rest, game=game, limit=TOURNAMENTS_PER_GROUP, cursor=read_cursor(query)
    )
    groups = {"rest": found.items}
    if first and not status:
        for group, states in (("running", IN_PROGRESS), ("open", [TournamentState.OPEN])):
            groups[group] = tournaments.list_tournaments(
                current_session(), status=states, game=game, limit=TOURNAMENTS_PER_GROUP
            ).items
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
    requires_code = tournament.join_code is not None
    values = editable_terms(tournament) | {"table_sizes": sizes, "requires_code": requires_code}
    return page(
        "tournaments/show.html",
        **context,
        table=standings_context(tournament, 1),
        bracket=bracket and draw_bracket(bracket, tournament.name),
        podium=find_podium(tournament),
        bracket_rounds=bracket,
        newest=newest_matches(tournament),
        description=tournament.description and render_untrusted(tournament.description),
        lines=list(describe_terms(values)),
        ended_openings=count_ended_openings(current_session(), OpeningFilter(tournament_id=tournament.id)),
        voided=voids.count_voided_matches(current_session(), tournament.id),
        proposed_voids=voids.count_voids(current_session(), VoidFilter(None, tournament.id, VoidState.PROPOSED)),
    )


@pages.view(f"{TOURNAMENT}/standings", "columns", "page")
def standings(tournament_id: str) -> Response:
    """Show the standings, page by page, with a few columns or with all."""
    tournament = get_visible_tournament(tournament_id)
    return page(
        "tournaments/standings.html",
        **tournament_context(tournament),
        table=standings_context(tournament, requested_number(), all_columns=choice("columns", ["all"]) is not None),
    )


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
        "organisers": organisers.list_organisers(current_session(), tournament),
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


def newest_matches(tournament: Tournament) -> list[Json]:
    """Return the matches that ended last, newest first."""
    return match_views(watching.list_newest_ended(current_session(), tournament.id, limit=NEWEST))


def entry_page(tournament: Tournament) -> tuple[NumberedPage, list[tuple[TournamentEntry, Bot]]]:
    """Return the requested page of entries with their bots, including withdrawn ones."""
    numbered = numbered_page(
        requested_number(), ROWS_PER_PAGE, entering.count_entries(current_session(), tournament.id)
    )
    return numbered, entering.list_entries(
        current_session(), tournament.id, limit=ROWS_PER_PAGE, cursor=numbered.cursor
    ).items


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
    return {
        id: {
            "entered": entered.get(id, 0),
            "progress": progresses.load_progress(current_session(), id) if id in active else None,
        }
        for id in ids
    }
