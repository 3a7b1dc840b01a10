"""Stages of tournaments: which tables were decided, who rests, what came of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.matches.resource import knows_all, shown_all
from api.matches.schemas import LAST_STAGE
from api.pagination import PageQuery, after, envelope, list_of
from api.tournaments.round_schemas import StageView, WholeStageView
from api.views import Resource, record
from referee.bots import bots
from referee.db.paging import Page, number_of
from referee.matches.deal_groups import ENDED
from referee.matches.tables import Match
from referee.matches.unrated import table_unrated_reason
from referee.tournaments import round_lists, tournaments
from referee.tournaments.tables import Stage, Tournament

resource = Resource("stages", "/api/v1/tournaments", "Stages of an event: who meets whom.")

Json = dict[str, Any]
STAGE = f"<int(min=1, max={LAST_STAGE}):stage>"


@resource.on("GET", '/<id("trn"):tournament_id>/stages')
@resource.anyone
@resource.asks(PageQuery)
@resource.reads
@resource.gives(list_of(StageView))
def list_stages(query: Json, tournament_id: str) -> Any:
    """The stages of a tournament decided so far

    Formats that look at no result decide some beforehand. A ladder has none.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    found = round_lists.list_stages(record(), tournament.id, limit=query["limit"], cursor=after(query))
    return envelope(Page([shown(line) for line in found.items], found.next), query)


@resource.on("GET", f'/<id("trn"):tournament_id>/stages/{STAGE}')
@resource.anyone
@resource.asks(PageQuery)
@resource.reads
@resource.gives(WholeStageView)
def show(query: Json, tournament_id: str, stage: int) -> Any:
    """A stage, its tables page by page

    Who sits at a table of a rated event is told when the table is over, to organisers at once, to everybody at once
    where the event has `open_seats`. Until then entrants and seats are there without names.
    """
    tournament = tournaments.get_tournament(record(), tournament_id)
    line = round_lists.stage_line(record(), tournament.id, stage)
    stored = record().get_one(Stage, (tournament.id, stage))
    first = number_of(after(query) or [0])
    numbers = list(range(first + 1, min(first + query["limit"], line.tables) + 1))
    played = round_lists.matches_at(record(), tournament.id, stage, numbers)
    entrants = [one for number in numbers for one in stored.tables[number - 1]["entrants"]]
    names = bots.names_of(record(), [*entrants, *(bye["entrant"] for bye in stored.byes)])
    owners = bots.owners_of(record(), entrants)
    page = Page(
        [table(tournament, stored, number, played.get(number, []), names, owners) for number in numbers],
        [numbers[-1]] if numbers and numbers[-1] < line.tables else None,
    )
    told = line.state == "over" or tells_all(tournament)
    resting = [{**place(bye["entrant"] if told else None, names), "reason": bye["reason"]} for bye in stored.byes]
    return {**shown(line), "resting": resting, **envelope(page, query)}


def tells_all(tournament: Tournament) -> bool:
    """Whether the asker may know who plays whom, also where that is not over. Of a cancelled event nothing goes on."""
    return not tournament.rated or tournament.open_seats or tournament.status == "cancelled" or knows_all()


def shown(line: round_lists.StageLine) -> Json:
    return {
        "stage": line.number,
        "label": line.label,
        "state": line.state,
        "tables": line.tables,
        "arranged": line.arranged,
        "matches": line.matches,
        "done": line.done,
        "byes": line.byes,
        "created_at": line.created_at,
        "ended_at": line.ended_at,
    }


def table(
    tournament: Tournament,
    stage: Stage,
    number: int,
    played: Sequence[Match],
    names: Mapping[str, str],
    owners: Mapping[str, str],
) -> Json:
    """Table ``number`` with the matches ``played`` at it."""
    stored = stage.tables[number - 1]
    over = stage.ended_at is not None or (bool(played) and all(match.status in ENDED for match in played))
    told = over or tells_all(tournament)
    return {
        "table": number,
        "label": stored["label"],
        "over": over,
        "legs": stored["legs"],
        "unrated_reason": None
        if any(match.rated for match in played)  # substitutes may make it so
        else table_unrated_reason(tournament, [owners[one] for one in stored["entrants"]]),
        "entrants": [place(one if told else None, names) for one in stored["entrants"]],
        "matches": shown_all(played),
    }


def place(bot_id: str | None, names: Mapping[str, str]) -> Json:
    return {"bot": bot_id, "name": None if bot_id is None else names.get(bot_id)}
