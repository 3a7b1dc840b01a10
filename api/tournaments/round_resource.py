"""Stages of tournaments: which tables were decided, who rests, what came of them."""

from typing import Any

from api.pagination import PageQuery, envelope, list_of, read_cursor
from api.pairings import STAGE, place, table, tells_all
from api.presentation import Extended
from api.tournaments.round_schemas import StageView, WholeStageView
from api.views import Resource, record
from referee.db.paging import Page, number_of
from referee.tournaments import round_lists, tournaments

resource = Resource("stages", "/api/v1/tournaments", "Stages of an event: who meets whom.")

Json = dict[str, Any]


@resource.route("GET", '/<id("trn"):tournament_id>/stages')
@resource.anyone
@resource.query(PageQuery)
@resource.reads
@resource.response(list_of(StageView))
def list_stages(query: Json, tournament_id: str) -> Any:
    """The stages of a tournament decided so far

    Formats that look at no result decide some beforehand. A ladder has none.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    found = round_lists.list_stages(record(), tournament.id, limit=query["limit"], cursor=read_cursor(query))
    return envelope(found, query)


@resource.route("GET", f'/<id("trn"):tournament_id>/stages/{STAGE}')
@resource.anyone
@resource.query(PageQuery)
@resource.reads
@resource.response(WholeStageView)
def show(query: Json, tournament_id: str, stage: int) -> Any:
    """A stage, its tables page by page

    Who sits at a table of a rated event is told when the table is over, to organisers at once, to everybody at once
    where the tournament is not `anonymous`. Until then entrants and seats are there without names.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    line = round_lists.stage_line(record(), tournament.id, stage)
    first = number_of(read_cursor(query) or [0])
    found = round_lists.stage_page(record(), tournament.id, line, first=first, limit=query["limit"])
    page = Page(
        [table(tournament, found, number) for number in found.tables],
        [found.tables[-1]] if found.tables and found.tables[-1] < line.tables else None,
    )
    told = line.state == "over" or tells_all(tournament)
    resting = [
        {**place(bye["entrant"] if told else None, found.names), "reason": bye["reason"]} for bye in found.stage.byes
    ]
    return Extended(line, resting=resting, **envelope(page, query))
