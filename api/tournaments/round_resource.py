"""The rounds of a tournament over HTTP, with their tables, byes and results."""

from typing import Any

from api.auth import anyone
from api.extended import Extended
from api.pagination import PageQuery, envelope, read_cursor
from api.tournaments.pairings import STAGE, bot_reference, may_show_entrants, visible_table
from api.tournaments.round_schemas import StageView, WholeStageView
from api.views import Resource, current_session
from referee.db.paging import Page, number_of
from referee.tournaments import round_lists, tournaments

resource = Resource("stages", "/api/v1/tournaments", "Rounds of tournaments and their tables.")

Json = dict[str, Any]


@resource.get('/<id("trn"):tournament_id>/stages', anyone, items=StageView)
def list_stages(query: Json, tournament_id: str) -> Any:
    """List the rounds of a tournament paired so far

    Formats whose pairings do not depend on results pair some rounds in advance. A ladder has no rounds.
    """
    tournament = tournaments.get_tournament(current_session(), tournament_id)
    return round_lists.list_stages(current_session(), tournament.id, **query)


@resource.get(f'/<id("trn"):tournament_id>/stages/{STAGE}', anyone, WholeStageView, query=PageQuery)
def show(query: Json, tournament_id: str, stage: int) -> Any:
    """Get a round, its tables page by page

    In a rated tournament the entrants of a table are shown when the table is over; organisers, and everyone if the
    tournament is not `anonymous`, see them immediately. Until then entrants and seats are shown without names.
    """
    tournament = tournaments.get_tournament(current_session(), tournament_id)
    line = round_lists.stage_line(current_session(), tournament.id, stage)
    first = number_of(read_cursor(query) or [0])
    found = round_lists.stage_page(current_session(), tournament.id, line, first=first, limit=query["limit"])
    page = Page(
        [visible_table(tournament, found, number) for number in found.tables],
        [found.tables[-1]] if found.tables and found.tables[-1] < line.tables else None,
    )
    visible = line.state == "over" or may_show_entrants(tournament)
    byes = [
        {**bot_reference(bye["entrant"] if visible else None, found.names), "reason": bye["reason"]}
        for bye in found.stage.byes
    ]
    return Extended(line, resting=byes, **envelope(page, query))
