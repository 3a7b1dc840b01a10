"""Serve the rounds of a tournament over HTTP, with their tables, byes and results."""

from typing import Any

from api.auth import anyone
from api.extended import Extended
from api.pagination import PageQuery, envelope, read_cursor
from api.tournaments.access import TOURNAMENT, get_visible_tournament
from api.tournaments.pairings import ROUND, may_show_entrants, visible_byes, visible_table
from api.tournaments.round_schemas import RoundView, WholeRoundView
from api.views import Resource, current_session
from referee.db.paging import Page, read_values
from referee.tournaments import round_lists
from referee.tournaments.states import RoundState

resource = Resource("rounds", TOURNAMENT, "Rounds of tournaments and their tables.")

Json = dict[str, Any]


@resource.get("/rounds", anyone, items=RoundView)
def list_rounds(query: Json, tournament_id: str) -> Any:
    """List the rounds of a tournament that are paired so far

    Formats whose pairings do not depend on results pair some rounds in advance.
    """
    tournament = get_visible_tournament(tournament_id)
    return round_lists.list_rounds(current_session(), tournament.id, **query)


@resource.get(f"/rounds/{ROUND}", anyone, WholeRoundView, query=PageQuery)
def show(query: Json, tournament_id: str, tournament_round: int) -> Any:
    """Get a round, with its tables page by page

    In a rated tournament, the entrants of a table are shown when the table is over. Organisers see them immediately, as
    does everyone if the tournament is not `anonymous`. Until then, entrants and seats have no names.
    """
    tournament = get_visible_tournament(tournament_id)
    summary = round_lists.get_round_summary(current_session(), tournament.id, tournament_round)
    (first,) = read_values(read_cursor(query), int) or (0,)
    found = round_lists.get_round_page(current_session(), tournament.id, summary, first=first, limit=query["limit"])
    page = Page(
        [visible_table(tournament, found, number) for number in found.tables],
        [found.tables[-1]] if found.tables and found.tables[-1] < summary.tables else None,
    )
    visible = summary.state == RoundState.OVER or may_show_entrants(tournament)
    return Extended(summary, bye_entrants=visible_byes(found, visible), **envelope(page, query))
