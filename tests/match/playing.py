"""Matches for tests: headers, seeded chance and seats that choose by a rule."""

from collections.abc import Callable, Sequence
from random import Random

from referee.games import catalogue
from referee.match.canonical import Json
from referee.match.chance import CommittedChance, commitment
from referee.match.log import PublicView
from referee.match.match import Answer, Match, Request, new_header
from referee.match.time_limits import Limits

SEED = bytes(range(32))
GROUP = "grp_0000000000000000000000test"
Chooser = Callable[[Request], Answer]


def header(game: str, seats: int, options: Json | None = None, limits: Limits | None = None) -> Json:
    players = [{"bot": f"bot_{seat}", "name": f"Bot {seat}", "version": "1"} for seat in range(seats)]
    entries = [player["bot"] for player in players]
    made = new_header(
        match_id="mat_0000000000000000000000test",
        game_name=game,
        options=options or {},
        players=players,
        group={"id": GROUP, "commitment": commitment(SEED, GROUP), "entries": entries},
        limits=limits,
    )
    return made | {"engine_version": "0.1.0"}  # so that golden logs are the same at every commit


def chance(seats: int = 2) -> CommittedChance:
    return CommittedChance(SEED, GROUP, [""] * seats)


def at_random(dice: Random) -> Chooser:
    return lambda request: Answer(request.seat, dice.choice(request.legal_actions), ms=dice.randrange(1, 400))


def played(head: Json, choose: Chooser, source: CommittedChance | None = None) -> Match:
    """Play a whole match; ``choose`` answers each open question, by ascending seat."""
    match = Match(head, source or chance(head["seats"]))
    match.begin()
    while not match.over:
        for request in match.requests():
            match.receive(choose(request))
    return match


def public_items(rows: Sequence[Json]) -> list[Json]:
    """Return what the public reads of the first rows of a log before the deal group is over."""
    return PublicView(rows[0]).add(rows)


def tables() -> list[tuple[str, int]]:
    """Return every game with its fewest and its most seats."""
    return [(name, seats) for name, rules in catalogue().items() for seats in (rules.seats[0], rules.seats[-1])]
