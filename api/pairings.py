"""The tables of a tournament round and the bracket of a knockout, without what the caller may not see yet."""

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

STAGE: Final = f"<int(min=1, max={LAST_STAGE}):stage>"  # the path parameter of a round


def tells_all(tournament: Tournament) -> bool:
    """Return whether the caller may see who plays whom even at tables that are not over."""
    return not tournament.rated or not tournament.anonymous or tournament.status == "cancelled" or organises()


def table(tournament: Tournament, page: StagePage, number: int) -> Json:
    """Return table ``number`` of ``page`` with the matches played at it."""
    stored, played = page.stage.tables[number - 1], page.matches.get(number, [])
    over = page.stage.ended_at is not None or (bool(played) and all(match.status in ENDED for match in played))
    visible = over or tells_all(tournament)
    return {
        "table": number,
        "label": stored["label"],
        "over": over,
        "legs": stored["legs"],
        "unrated_reason": None
        if any(match.rated for match in played)  # substitutes may make it so
        else table_unrated_reason(tournament, [page.owners[bot] for bot in stored["entrants"]]),
        "entrants": [bot_reference(bot if visible else None, page.names) for bot in stored["entrants"]],
        "matches": visible_matches(played),
    }


def bot_reference(bot_id: str | None, names: Mapping[str, str]) -> Json:
    """Return a bot's id and name, both None for a hidden bot."""
    return {"bot": bot_id, "name": None if bot_id is None else names.get(bot_id)}


def bracket(tournament: Tournament) -> Json:
    """Return the bracket as the caller may see it. Raise ``Conflict`` for other formats."""
    if tournament.format != "knockout":
        raise Conflict(f"A tournament with the format {tournament.format} has no bracket; only a knockout has one.")
    course, running = rounds.load_state_and_open_round(record(), tournament)
    tree = knockout.render_bracket(course, running)
    number = len(course.played) + 1 if running else None
    if number is not None and not tells_all(tournament):
        _hide_entrants(tree["stages"][-1], round_lists.ended_tables(record(), tournament.id, number))
    entrants = [entrant for bracket_round in tree["stages"] for entrant in _list_entrants(bracket_round)]
    names = bots.names_of(record(), (entrant["entrant"] for entrant in entrants if entrant["entrant"]))
    for bracket_round in tree["stages"]:
        bracket_round["stage"] = bracket_round.pop("number")
        bracket_round["state"] = "playing" if bracket_round["stage"] == number else "over"
    for entrant in entrants:
        entrant |= {"origin": entrant.pop("from"), **bot_reference(entrant.pop("entrant"), names)}
    return tree


def _hide_entrants(bracket_round: Json, tables_over: set[int]) -> None:
    """Remove the names of entrants at tables that are not over, and of those with a bye in this round."""
    hidden = [table for table in bracket_round["tables"] if table["table"] not in tables_over]
    for entrant in [*bracket_round["byes"], *(entrant for table in hidden for entrant in table["entrants"])]:
        entrant |= {"entrant": None, "seed": None, "from": None}


def _list_entrants(bracket_round: Json) -> Iterator[Json]:
    yield from bracket_round["byes"]
    for table in bracket_round["tables"]:
        yield from table["entrants"]
