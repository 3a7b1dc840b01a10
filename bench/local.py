"""Matches played in this process, for benchmarks of what comes before and after a match."""

from random import Random

from referee.match.canonical import Json
from referee.match.chance import CommittedChance, commitment
from referee.match.match import Answer, Match, new_header
from referee.protocol.messages import Questions

SEED = bytes(32)
GROUP = "grp_00000000000000000000bench0"
MATCH = "mat_00000000000000000000bench0"


def header(game: str, seats: int) -> Json:
    bots = [f"bot_{seat}" for seat in range(seats)]
    return new_header(
        match_id=MATCH,
        game_name=game,
        options={},
        players=[{"bot": bot, "name": f"Bot {seat}", "version": "1.0"} for seat, bot in enumerate(bots)],
        group={"id": GROUP, "commitment": commitment(SEED, GROUP), "entries": bots},
        rated=True,
    )


def advance(match: Match, rng: Random, points: int | None = None) -> None:
    """Answers every question at random, to the end or for so many decision points."""
    while not match.over and points != 0:
        for request in match.requests():
            match.receive(Answer(request.seat, choice=rng.randrange(len(request.legal_actions)), ms=1))
        points = None if points is None else points - 1


def question(game: str, seats: int) -> bytes:
    """The body of a question some way into a match."""
    match = Match(header(game, seats), CommittedChance(SEED, GROUP, [""] * seats))
    match.begin()
    advance(match, Random(1), points=7)
    request = match.requests()[0]
    return Questions(match.header, request.seat).encode(request)[1]
