"""Who meets whom in a tournament round, and the bracket of a knockout, as far as whoever asks may know it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from api.auth import organises
from api.matches.schemas import LAST_STAGE
from api.presentation import visible_matches
from api.views import record
from referee.bots import bots
from referee.errors import Conflict
from referee.matches.deal_groups import ENDED
from referee.pairing import knockout
from referee.tournaments import round_lists, rounds
from referee.tournaments.round_lists import StagePage
from referee.tournaments.tables import Tournament
from referee.workflows.unrated import table_unrated_reason

Json = dict[str, Any]

STAGE: Final = f"<int(min=1, max={LAST_STAGE}):stage>"  # in a route


def tells_all(tournament: Tournament) -> bool:
    """Return whether the asker may know who plays whom even at tables that are not over."""
    return not tournament.rated or not tournament.anonymous or tournament.status == "cancelled" or organises()


def table(tournament: Tournament, page: StagePage, number: int) -> Json:
    """Return table ``number`` of ``page`` with the matches played at it."""
    stored, played = page.stage.tables[number - 1], page.matches.get(number, [])
    over = page.stage.ended_at is not None or (bool(played) and all(match.status in ENDED for match in played))
    told = over or tells_all(tournament)
    return {
        "table": number,
        "label": stored["label"],
        "over": over,
        "legs": stored["legs"],
        "unrated_reason": None
        if any(match.rated for match in played)  # substitutes may make it so
        else table_unrated_reason(tournament, [page.owners[one] for one in stored["entrants"]]),
        "entrants": [place(one if told else None, page.names) for one in stored["entrants"]],
        "matches": visible_matches(played),
    }


def place(bot_id: str | None, names: Mapping[str, str]) -> Json:
    """Return a bot with its name, or nobody."""
    return {"bot": bot_id, "name": None if bot_id is None else names.get(bot_id)}


def bracket(tournament: Tournament) -> Json:
    """Return the bracket as the asker may see it. Raise ``Conflict`` for other formats."""
    if tournament.format != "knockout":
        raise Conflict(f"a {tournament.format} has no bracket")
    event, running = rounds.course_of(record(), tournament)
    picture = knockout.render_bracket(event, running)
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
    """Leave without a name whoever sits at a table that is not over, or has a bye meanwhile."""
    hidden = [table for table in stage["tables"] if table["table"] not in told]
    for one in [*stage["byes"], *(one for table in hidden for one in table["entrants"])]:
        one |= {"entrant": None, "seed": None, "from": None}


def _everybody(stage: Json) -> Iterator[Json]:
    yield from stage["byes"]
    for table in stage["tables"]:
        yield from table["entrants"]
