"""Friendlies of a bot that is paused while others are arranged or end."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Barrier, Event
from time import sleep
from typing import Any

from sqlalchemy import event, select, text, update

from referee.bots import bots
from referee.bots.tables import Bot
from referee.db.engine import Database
from referee.errors import Conflict, StaleEpoch, Unavailable
from referee.ladders import ledger
from referee.matches.states import OPEN
from referee.matches.tables import StoredMatch
from referee.workflows.bots import pausing
from tests.database.world import FakeClock, World
from tests.surroundings import MASTER_KEY

ROUNDS = 4


def paused(world: World, bot_id: str) -> None:
    world.write(pausing.pause_bot, bot_id, "enough", master_key=MASTER_KEY)


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
            assert session.scalars(select(StoredMatch.id).where(StoredMatch.status.in_(OPEN))).all() == []


def test_E21_a_bot_is_paused_while_its_friendlies_end(world: World) -> None:
    for _ in range(ROUNDS):
        bot_id, other = world.bots(2)
        for _ in range(2):
            world.match([bot_id, other], rated=False)
        first, second = world.claim(2)

        together(partial(paused, world, bot_id), partial(world.finish, first), partial(world.finish, second))

        with world.database.read() as session:
            assert bots.get_bot(session, bot_id).status == "paused"
            assert {session.get_one(StoredMatch, one.match_id).status for one in (first, second)} <= {
                "finished",
                "cancelled",
            }


def test_E21_a_pause_that_waits_for_a_match_holds_up_nobody_who_ends_one(postgres_url: str) -> None:
    world = World(Database(postgres_url, clock=FakeClock()))
    bot_id, other = world.bots(2)
    world.match([bot_id, other], rated=False)
    ending: list[Future[None]] = []

    def end(match_id: str, begun: Event) -> None:
        with world.database.write() as session:
            session.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(status="cancelled"))
            begun.set()
            while not session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")):
                sleep(0.01)
            ledger.lock_ledger(session)
            session.execute(select(Bot.id).where(Bot.id == bot_id).with_for_update())

    def before_it_is_locked(*said: Any) -> None:
        if said[2].startswith("SELECT bots") and not ending:
            begun, match_id = Event(), world.match([bot_id, other], rated=False)
            ending.append(threads.submit(end, match_id, begun))
            assert begun.wait(30)

    with ThreadPoolExecutor(1) as threads, world.database.write() as session:
        event.listen(session.connection(), "before_cursor_execute", before_it_is_locked)
        bot = pausing.pause_bot(session, bot_id, "enough", master_key=MASTER_KEY)
        ending[0].result(timeout=30)

        assert bot.status == "paused"
    world.database.dispose()
