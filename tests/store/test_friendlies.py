"""Friendlies of a bot that is paused while others are arranged or end."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Barrier

from sqlalchemy import select

from referee.errors import Conflict, StaleEpoch, Unavailable
from referee.store import bots
from referee.store.play import friendlies
from referee.store.schema import OPEN, Match
from tests.store.world import World
from tests.surroundings import MASTER_KEY

ROUNDS = 8


def paused(world: World, bot_id: str) -> None:
    with world.database.write() as session:
        friendlies.pause_bot(session, bot_id, "enough", master_key=MASTER_KEY)


def together(*what: Callable[[], object]) -> None:
    """Do everything at the same time; ignore what is refused or would have to be retried."""
    begin = Barrier(len(what))

    def act(one: Callable[[], object]) -> None:
        begin.wait(timeout=30)
        with suppress(Conflict, StaleEpoch, Unavailable):
            one()

    with ThreadPoolExecutor(len(what)) as threads:
        for done in [threads.submit(act, one) for one in what]:
            done.result()


def test_E21_no_friendly_is_left_open_that_was_arranged_while_a_bot_was_paused(world: World) -> None:
    for _ in range(ROUNDS):
        bot_id, other = world.bots(2)

        together(partial(paused, world, bot_id), *[partial(world.match, [other, bot_id], rated=False)] * 3)

        with world.database.read() as session:
            assert bots.get_bot(session, bot_id).status == "paused"
            assert session.scalars(select(Match.id).where(Match.status.in_(OPEN))).all() == []


def test_E21_a_bot_is_paused_while_its_friendlies_end(world: World) -> None:
    for _ in range(ROUNDS):
        bot_id, other = world.bots(2)
        for _ in range(2):
            world.match([bot_id, other], rated=False)
        first, second = world.claim(2)

        together(partial(paused, world, bot_id), partial(world.finish, first), partial(world.finish, second))

        with world.database.read() as session:
            assert bots.get_bot(session, bot_id).status == "paused"
            assert {session.get_one(Match, one.match_id).status for one in (first, second)} <= {"finished", "cancelled"}
