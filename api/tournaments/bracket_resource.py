"""The bracket of a knockout: what was played, what is being played, what is to come."""

from collections.abc import Iterator
from typing import Any

from api.tournaments.round_resource import place, tells_all
from api.tournaments.round_schemas import BracketView
from api.views import Resource, record
from referee.bots import bots
from referee.errors import Conflict
from referee.pairing import knockout
from referee.tournaments import round_lists, rounds, tournaments
from referee.tournaments.tables import Tournament

resource = Resource("brackets", "/api/v1/tournaments", "Knockouts as a picture.")

Json = dict[str, Any]


@resource.on("GET", '/<id("trn"):tournament_id>/bracket')
@resource.anyone
@resource.reads
@resource.gives(BracketView)
def show(tournament_id: str) -> Any:
    """The bracket of a knockout

    Of the stage that is being played entrants are told as on its own page. 409 for other formats.
    """
    return drawn(tournaments.get_tournament(record(), tournament_id))


def drawn(tournament: Tournament) -> Json:
    """The bracket as the asker may see it; raises ``Conflict`` for other formats."""
    if tournament.format != "knockout":
        raise Conflict(f"a {tournament.format} has no bracket")
    event, running = rounds.course_of(record(), tournament)
    picture = knockout.bracket(event, running)
    number = len(event.played) + 1 if running else None
    if number is not None and not tells_all(tournament):
        _hide(picture["stages"][-1], round_lists.tables_over(record(), tournament.id, number))
    names = bots.names_of(
        record(), (one["entrant"] for stage in picture["stages"] for one in _everybody(stage) if one["entrant"])
    )
    for stage in picture["stages"]:
        stage["stage"] = stage.pop("number")
        stage["state"] = "playing" if stage["stage"] == number else "over"
        for one in _everybody(stage):
            one |= {"origin": one.pop("from"), **place(one.pop("entrant"), names)}
    return picture


def _hide(stage: Json, told: set[int]) -> None:
    """Leaves without a name whoever sits at a table that is not over, or rests meanwhile."""
    hidden = [table for table in stage["tables"] if table["table"] not in told]
    for one in [*stage["byes"], *(one for table in hidden for one in table["entrants"])]:
        one |= {"entrant": None, "seed": None, "from": None}


def _everybody(stage: Json) -> Iterator[Json]:
    yield from stage["byes"]
    for table in stage["tables"]:
        yield from table["entrants"]
