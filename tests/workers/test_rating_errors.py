"""Errors of ratings appear soon after results, one ladder after the other, and take a limited share of a processor."""

from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from referee.db.engine import Database
from referee.ladders import rating_errors
from referee.ladders.tables import RatingError
from tests.database.checks import on_one_database
from tests.database.fixtures import world as world
from tests.database.world import World
from tests.workers.conftest import Clock
from workers.rating_errors import LADDER_REST_S, LOOK_S, REST_FACTOR, RatingErrorRefresher
from workers.repeated_steps import ERROR_PAUSE_S

pytestmark = on_one_database


class Refreshing:
    """Refresh ladders and note which. A refresh takes ``takes_s``, and that of the ladder ``broken`` fails."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world, self.seconds, self.ladders = world, Clock(), list[str]()
        self.takes_s, self.broken = 0.0, ""
        self.step = RatingErrorRefresher(world.database, self.seconds).step
        self._refresh = rating_errors.refresh_errors
        monkeypatch.setattr(rating_errors, "refresh_errors", self.refresh)

    def refresh(self, database: Database, ladder_id: str) -> Any:
        self.seconds.now_s += self.takes_s
        self.ladders.append(ladder_id)
        if ladder_id == self.broken:
            raise ArithmeticError
        return self._refresh(database, ladder_id)

    def known(self) -> set[str]:
        return set(self.world.scalars(select(RatingError.bot_id)))


@pytest.fixture
def refreshing(world: World, monkeypatch: pytest.MonkeyPatch) -> Refreshing:
    return Refreshing(world, monkeypatch)


def test_results_lead_to_errors_with_the_next_step_and_together_while_a_ladder_rests(refreshing: Refreshing) -> None:
    world, bots = refreshing.world, refreshing.world.bots(2)
    assert refreshing.step() == LOOK_S
    assert refreshing.known() == set()

    for _ in range(10):
        world.play(bots)
        refreshing.step()
        assert refreshing.known() == set(bots)
        refreshing.seconds.now_s += LADDER_REST_S / 20

    assert len(refreshing.ladders) == 1
    refreshing.seconds.now_s += LADDER_REST_S
    refreshing.step()
    refreshing.step()
    assert len(refreshing.ladders) == 2


def test_ladders_take_turns_and_the_refresher_rests_in_proportion(refreshing: Refreshing) -> None:
    refreshing.takes_s = 2.0
    small, large = refreshing.world.bots(2), refreshing.world.bots(3)
    rests = []
    for _ in range(4):
        refreshing.world.play(small)
        refreshing.world.play(large)
        rests.append(refreshing.step())
        refreshing.seconds.now_s += rests[-1]

    assert rests == [REST_FACTOR * 2.0] * 4
    assert refreshing.ladders[0] != refreshing.ladders[1]
    assert refreshing.ladders[:2] == refreshing.ladders[2:]


def test_an_error_on_one_ladder_does_not_stop_the_others(refreshing: Refreshing) -> None:
    small, large = refreshing.world.bots(2), refreshing.world.bots(3)
    refreshing.broken = str(refreshing.world.play(small).ladder_id)
    refreshing.world.play(large)
    for _ in range(3):
        refreshing.step()
    assert refreshing.known() == set(large)

    refreshing.broken = ""
    refreshing.step()
    assert refreshing.known() == set(large)  # the ladder rests after the error
    refreshing.seconds.now_s += ERROR_PAUSE_S
    refreshing.step()
    assert refreshing.known() == {*small, *large}


def test_an_idle_look_is_one_statement_that_does_not_depend_on_ladders(refreshing: Refreshing) -> None:
    refreshing.world.play(refreshing.world.bots(2))
    refreshing.step()
    refreshing.step()
    statements: list[str] = []

    def hear(*said: Any) -> None:
        statements.append(said[2])

    event.listen(Engine, "before_cursor_execute", hear)
    refreshing.step()
    event.remove(Engine, "before_cursor_execute", hear)

    assert [one for one in statements if one.startswith("SELECT")] == [
        "SELECT max(ledger_entries.seq) AS max_1 \nFROM ledger_entries"
    ]
