"""Errors of ratings appear soon after results, one ladder after the other, and take a limited share of a processor."""

from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from referee.db.engine import Database
from referee.ladders import rating_errors
from referee.ladders.tables import RatingError
from tests.database.world import FakeClock, World
from tests.workers.test_tournaments import Seconds
from workers.rating_errors import LADDER_REST_S, LOOK_S, REST_FACTOR, RatingErrorRefresher
from workers.repeated_steps import ERROR_PAUSE_S


@pytest.fixture
def world(sqlite_url: str) -> World:
    return World(Database(sqlite_url, clock=FakeClock()))


def known(world: World) -> set[str]:
    with world.database.read() as session:
        return set(session.scalars(select(RatingError.bot_id)))


def test_a_result_leads_to_errors_with_the_next_step(world: World) -> None:
    refresher, bots = RatingErrorRefresher(world.database, Seconds()), world.bots(2)
    assert refresher.step() == LOOK_S
    assert known(world) == set()

    world.play(bots)
    refresher.step()

    assert known(world) == set(bots)


def test_results_that_come_while_a_ladder_rests_are_one_refresh(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds, bots, fits = Seconds(), world.bots(2), list[str]()
    refresher, refresh = RatingErrorRefresher(world.database, seconds), rating_errors.refresh_errors

    def count(database: Database, ladder_id: str) -> Any:
        fits.append(ladder_id)
        return refresh(database, ladder_id)

    monkeypatch.setattr(rating_errors, "refresh_errors", count)
    for _ in range(10):
        world.play(bots)
        refresher.step()
        seconds.now += LADDER_REST_S / 20

    assert len(fits) == 1
    seconds.now += LADDER_REST_S
    refresher.step()
    refresher.step()
    assert len(fits) == 2


def test_ladders_take_turns_and_there_are_rests_in_proportion(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds, refreshed = Seconds(), list[str]()
    refresher, refresh = RatingErrorRefresher(world.database, seconds), rating_errors.refresh_errors

    def slow(database: Database, ladder_id: str) -> Any:
        seconds.now += 2.0
        refreshed.append(ladder_id)
        return refresh(database, ladder_id)

    monkeypatch.setattr(rating_errors, "refresh_errors", slow)
    small, large = world.bots(2), world.bots(3)
    rests = []
    for _ in range(4):
        world.play(small)
        world.play(large)
        rests.append(refresher.step())
        seconds.now += rests[-1]

    assert rests == [REST_FACTOR * 2.0] * 4
    assert refreshed[0] != refreshed[1]
    assert refreshed[:2] == refreshed[2:]


def test_an_error_on_one_ladder_does_not_stop_the_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds, small, large = Seconds(), world.bots(2), world.bots(3)
    broken = str(world.play(small).ladder_id)
    world.play(large)
    refresher, refresh = RatingErrorRefresher(world.database, seconds), rating_errors.refresh_errors

    def fail_once(database: Database, ladder_id: str) -> Any:
        if ladder_id == broken and not seconds.now:
            raise ArithmeticError
        return refresh(database, ladder_id)

    monkeypatch.setattr(rating_errors, "refresh_errors", fail_once)
    for _ in range(3):
        refresher.step()
    assert known(world) == set(large)

    seconds.now += ERROR_PAUSE_S
    refresher.step()
    assert known(world) == {*small, *large}


def test_an_idle_look_is_one_statement_that_does_not_depend_on_ladders(world: World) -> None:
    refresher = RatingErrorRefresher(world.database, Seconds())
    world.play(world.bots(2))
    refresher.step()
    refresher.step()
    statements: list[str] = []

    def hear(*said: Any) -> None:
        statements.append(said[2])

    event.listen(Engine, "before_cursor_execute", hear)
    refresher.step()
    event.remove(Engine, "before_cursor_execute", hear)

    assert [one for one in statements if one.startswith("SELECT")] == [
        "SELECT max(ledger_entries.seq) AS max_1 \nFROM ledger_entries"
    ]
