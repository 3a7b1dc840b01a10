"""Create bots that wait in certain ways, for the tests of the reasons."""

from typing import Any

from sqlalchemy import select

from referee.bots import bots
from referee.matches.queue.claims import CLAIMS_BEFORE_STUCK
from referee.matches.tables import StoredMatch
from referee.tournaments import progression
from referee.tournaments.tables import TournamentRound
from referee.workflows.explaining.waiting_reasons import Reason
from tests.database.tournaments import DRAW, answer_handshakes, begun, go_on, start
from tests.database.world import MANIFEST, World, manifest_of
from tests.surroundings import MASTER_KEY

Case = tuple[str, str | None, Reason]  # the bot; its match or the like (None: what is most important); the reason
ONE_CALL = manifest_of("1.0", MANIFEST.games, 1)


def lost_twice(world: World, match_id: str) -> None:
    for _ in range(2):
        assert world.claim(match_id=match_id)
        world.pass_seconds(16)


def make_stuck(world: World, match_id: str) -> None:
    lost_twice(world, match_id)
    for _ in range(CLAIMS_BEFORE_STUCK):
        assert world.claim(isolated=True, match_id=match_id)
        world.pass_seconds(16)
    assert world.claim(isolated=True) == []


def full(world: World) -> tuple[str, list[str]]:
    """Return a bot that accepts one call, and its two matches, the first of which is in progress."""
    bot_id, other = world.bot(manifest=ONE_CALL), world.bot()
    match_ids = [world.match([bot_id, other]) for _ in range(2)]
    assert [claim.match_id for claim in world.claim(2)] == match_ids[:1]
    return bot_id, match_ids


def registered(world: World) -> str:
    owner = world.account()
    return world.write(bots.register, owner, "New bot", "http://127.0.0.1:8998/").id


def steps_until(world: World, tournament_id: str, name: str) -> None:
    start(world, tournament_id, draw_key=DRAW)
    answer_handshakes(world.database)
    while progression.take_next_step(world.database, tournament_id, master_key=MASTER_KEY) != name:
        pass


def resting(world: World, **terms: Any) -> tuple[str, str]:
    """Return the bot with the bye among three in a Swiss, and its tournament."""
    tournament_id, _ = begun(world, 3, format="swiss", **terms)
    (one,) = world.get_one(TournamentRound, (tournament_id, 1)).byes
    return str(one["entrant"]), tournament_id


def half_played(world: World) -> tuple[str, str, str]:
    """Return a Swiss with one match over and one due: the tournament, a bot of the first, and the second match."""
    tournament_id, _ = begun(world, 4, format="swiss")
    (first,) = world.claim()
    bot_id = world.finish(first).bots[0]
    go_on(world.database, tournament_id)
    return tournament_id, bot_id, world.one(select(StoredMatch.id).where(StoredMatch.status == "due"))
