"""The rounds of a tournament over HTTP, with their tables, byes and results."""

from typing import Any

from api.pagination import PageQuery, envelope, list_of, read_cursor
from api.pairings import ROUND, bot_reference, table, tells_all
from api.presentation import Extended
from api.tournaments.round_schemas import RoundView, WholeRoundView
from api.views import Resource, record
from referee.db.paging import Page, number_of
from referee.tournaments import round_lists, tournaments

resource = Resource("rounds", "/api/v1/tournaments", "Rounds of tournaments and their tables.")

Json = dict[str, Any]


@resource.route("GET", '/<id("trn"):tournament_id>/rounds')
@resource.anyone
@resource.query(PageQuery)
@resource.reads
@resource.response(list_of(RoundView))
def list_rounds(query: Json, tournament_id: str) -> Any:
    """List the rounds of a tournament paired so far

    Formats whose pairings do not depend on results pair some rounds in advance. A ladder has no rounds.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    found = round_lists.list_rounds(record(), tournament.id, limit=query["limit"], cursor=read_cursor(query))
    return envelope(found, query)


@resource.route("GET", f'/<id("trn"):tournament_id>/rounds/{ROUND}')
@resource.anyone
@resource.query(PageQuery)
@resource.reads
@resource.response(WholeRoundView)
def show(query: Json, tournament_id: str, tournament_round: int) -> Any:
    """Get a round, its tables page by page

    In a rated tournament the entrants of a table are shown when the table is over; organisers, and everyone if the
    tournament is not `anonymous`, see them immediately. Until then entrants and seats are shown without names.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    summary = round_lists.get_round_summary(record(), tournament.id, tournament_round)
    first = number_of(read_cursor(query) or [0])
    found = round_lists.get_round_page(record(), tournament.id, summary, first=first, limit=query["limit"])
    page = Page(
        [table(tournament, found, number) for number in found.tables],
        [found.tables[-1]] if found.tables and found.tables[-1] < summary.tables else None,
    )
    visible = summary.state == "over" or tells_all(tournament)
    byes = [
        {**bot_reference(bye["entrant"] if visible else None, found.names), "reason": bye["reason"]}
        for bye in found.tournament_round.byes
    ]
    return Extended(summary, resting=byes, **envelope(page, query))
