"""Parts of ledger files are stored soon after results, one for each step, also those of earlier results."""

import pytest
from sqlalchemy import select

from referee.audit import repairs
from referee.db.engine import Database
from referee.ladders import ledger_csv
from referee.ladders.tables import LedgerPart
from tests.database.world import FakeClock, World
from tests.workers.conftest import Clock
from workers.ledger_parts import LOOK_S, LedgerPartStorer


@pytest.fixture
def world(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(ledger_csv, "ENTRIES_PER_PART", 2)
    return World(Database(sqlite_url, clock=FakeClock()))


def spans(world: World) -> list[tuple[int, int]]:
    with world.database.read() as session:
        parts = select(LedgerPart.after_seq, LedgerPart.last_seq).order_by(LedgerPart.after_seq)
        return [(after, last) for after, last in session.execute(parts)]


def test_each_step_stores_a_part_until_none_is_missing(world: World) -> None:
    bots = world.bots(2)
    for _ in range(5):
        world.play(bots)
    storer, found = LedgerPartStorer(world.database, Clock()), []
    for _ in range(3):
        assert storer.step() < LOOK_S
        found.append(spans(world))
    assert storer.step() == LOOK_S
    assert found == [[(0, 2)], [(0, 2), (2, 4)], [(0, 2), (2, 4)]]  # the last step found none

    world.play(bots)
    storer.step()

    assert spans(world) == [(0, 2), (2, 4), (4, 6)]


def test_what_cannot_be_stored_is_tried_again_after_the_other_ladders_and_a_rest(world: World, sqlite_url: str) -> None:
    impatient = Database(sqlite_url, clock=world.database.clock, write_wait_s=0.01)
    storer = LedgerPartStorer(impatient, Clock())
    assert storer.step() == LOOK_S
    played = [world.play(world.bots(seats)) for seats in (2, 3, 2, 3)]

    with world.database.write():
        assert [storer.step(), storer.step()] == [LOOK_S, LOOK_S]

    while storer.step() != LOOK_S:
        pass
    with world.database.read() as session:
        assert set(session.scalars(select(LedgerPart.ladder_id))) == {result.ladder_id for result in played}


def test_parts_that_a_repair_discards_are_stored_again_and_those_of_other_ladders_stay(world: World) -> None:
    bots, other = world.bots(2), world.play(world.bots(3))
    for _ in range(3):
        result = world.play(bots)
    storer = LedgerPartStorer(world.database, Clock())

    def store_all() -> list[tuple[int, int]]:
        while storer.step() != LOOK_S:
            pass
        return sorted(spans(world))

    assert store_all() == [(0, 3)]
    with world.database.write() as session:
        repairs.repair_ladder(session, str(other.ladder_id))
    assert store_all() == [(0, 3), (0, 5)]
    with world.database.write() as session:
        repairs.repair_ladder(session, str(result.ladder_id))

    assert spans(world) == [(0, 5)]
    assert store_all() == [(0, 3), (0, 5), (3, 6)]


def test_after_a_restart_what_is_missing_is_stored_and_nothing_else(world: World) -> None:
    for _ in range(4):
        world.play(world.bots(2))
    LedgerPartStorer(world.database, Clock()).step()
    world.play(world.bots(3))  # on another ladder
    assert spans(world) == [(0, 2)]

    restarted = LedgerPartStorer(world.database, Clock())
    while restarted.step() != LOOK_S:
        pass

    assert spans(world) == [(0, 2), (2, 4)]
