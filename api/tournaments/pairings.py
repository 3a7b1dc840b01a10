"""Return the tables of a round and the bracket of a knockout. Hide data that the caller may not see yet."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from api.auth import may_organise
from api.matches.presentation import visible_matches
from api.matches.schemas import LAST_ROUND
from api.views import current_session
from referee.bots import bots
from referee.errors import Conflict
from referee.matches.states import ENDED
from referee.pairing import knockout
from referee.pairing.kinds import TournamentFormat
from referee.tournaments import round_lists, rounds
from referee.tournaments.round_lists import RoundPage
from referee.tournaments.states import RoundState, TournamentState
from referee.tournaments.tables import Tournament
from referee.workflows.explaining.unrated import table_unrated_reason

Json = dict[str, Any]

ROUND: Final = f"<int(min=1, max={LAST_ROUND}):tournament_round>"  # the path parameter of a round


def may_show_entrants(tournament: Tournament) -> bool:
    """Return whether the caller may see who plays whom at tables that are not over."""
    return (
        not tournament.rated
        or not tournament.anonymous
        or tournament.status == TournamentState.CANCELLED
        or may_organise()
    )


def visible_table(tournament: Tournament, page: RoundPage, number: int) -> Json:
    """Return table ``number`` of ``page`` with the matches played at it."""
    stored, played = page.tournament_round.tables[number - 1], page.matches.get(number, [])
    over = page.tournament_round.ended_at is not None or (
        bool(played) and all(match.status in ENDED for match in played)
    )
    visible = over or may_show_entrants(tournament)
    return {
        "table": number,
        "label": stored["label"],
        "over": over,
        "legs": stored["legs"],
        "unrated_reason": None
        if any(match.rated for match in played)  # some are rated in spite of the table, because of substitutes
        else table_unrated_reason(tournament, [page.owners[bot] for bot in stored["entrants"]]),
        "entrants": [bot_reference(bot if visible else None, page.names) for bot in stored["entrants"]],
        "matches": visible_matches(played),
    }


def visible_byes(page: RoundPage, visible: bool = True) -> list[Json]:
    """Return the byes of a round, with hidden bots unless they are ``visible``."""
    byes = page.tournament_round.byes
    return [{**bot_reference(bye["entrant"] if visible else None, page.names), "reason": bye["reason"]} for bye in byes]


def bot_reference(bot_id: str | None, names: Mapping[str, str]) -> Json:
    """Return the id and name of a bot, both None for a hidden bot."""
    return {"bot": bot_id, "name": None if bot_id is None else names.get(bot_id)}


def visible_bracket(tournament: Tournament) -> Json:
    """Return the bracket as the caller may see it. Raise ``Conflict`` for other formats."""
    if tournament.format != TournamentFormat.KNOCKOUT:
        raise Conflict(f"A tournament with the format {tournament.format} has no bracket; only a knockout has one.")
    course, running = rounds.load_state_and_open_round(current_session(), tournament)
    tree = knockout.render_bracket(course, running)
    number = len(course.played) + 1 if running else None
    if number is not None and not may_show_entrants(tournament):
        _hide_entrants(tree["rounds"][-1], round_lists.ended_tables(current_session(), tournament.id, number))
    entrants = [entrant for bracket_round in tree["rounds"] for entrant in _list_entrants(bracket_round)]
    names = bots.names_of(current_session(), (entrant["entrant"] for entrant in entrants if entrant["entrant"]))
    for bracket_round in tree["rounds"]:
        bracket_round["tournament_round"] = bracket_round.pop("number")
        bracket_round["state"] = RoundState.PLAYING if bracket_round["tournament_round"] == number else RoundState.OVER
    for entrant in entrants:
        entrant |= {"origin": entrant.pop("from"), **bot_reference(entrant.pop("entrant"), names)}
    return tree


def _hide_entrants(bracket_round: Json, tables_over: set[int]) -> None:
    """Hide the entrants at tables that are not over, and the entrants with a bye in this round."""
    hidden = [table for table in bracket_round["tables"] if table["table"] not in tables_over]
    for entrant in [*bracket_round["byes"], *(entrant for table in hidden for entrant in table["entrants"])]:
        entrant |= {"entrant": None, "seed": None, "from": None}


def _list_entrants(bracket_round: Json) -> Iterator[Json]:
    yield from bracket_round["byes"]
    for table in bracket_round["tables"]:
        yield from table["entrants"]
