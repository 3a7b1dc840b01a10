"""What looks for due matches and claims cost while bots are full, counted in steps of SQLite's virtual machine."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations, cycle, islice
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.db.engine import Database
from referee.matches import matches, scheduling
from referee.matches.queue import claims, match_queue
from referee.matches.queue.match_queue import Look
from referee.matches.scheduling import MatchPlan
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from tests.database.world import FakeClock, World
from tests.matches.test_match_queue import plan
from tests.surroundings import MASTER_KEY

STEP = 10  # the handler is called once for this many steps


@contextmanager
def new_world(template: Path, path: Path) -> Iterator[World]:
    shutil.copy(template, path)
    database = Database(f"sqlite:///{path}", clock=FakeClock())
    yield World(database)
    database.dispose()


@contextmanager
def counted(session: Session) -> Iterator[Callable[[], int]]:
    """Count the steps of the statements in the block, also of those that bypass SQLAlchemy."""
    calls = [0]

    def step() -> int:
        calls[0] += 1
        return 0

    driver = session.connection().connection.dbapi_connection
    assert driver is not None
    driver.set_progress_handler(step, STEP)
    try:
        yield lambda: calls[0] * STEP
    finally:
        driver.set_progress_handler(None, 0)


def fill(world: World, bots: list[str], due: int, accounts: list[str]) -> None:
    """Arrange matches between all pairs of bots, and claim them until the bots are full."""
    pairs = islice(zip(cycle(combinations(bots, 2)), cycle(accounts), strict=False), due)
    plans: list[MatchPlan] = [plan(pair, account) for pair, account in pairs]
    world.write(scheduling.create_matches, plans, master_key=MASTER_KEY)
    while world.claim(50):
        pass


def end_a_match(session: Session) -> list[str]:
    """End a match whose bots have a due match with each other and are not held by the oldest. Return these bots."""
    open_matches = sorted(
        session.scalars(select(StoredMatch)), key=lambda match: (match.created_at, match.created_by, match.id)
    )
    seats_of = matches.seats_of(session, [match.id for match in open_matches])
    seated = {match_id: tuple(seat.bot_id for seat in seats) for match_id, seats in seats_of.items()}
    due = [seated[match.id] for match in open_matches if match.status == MatchState.DUE]
    running = (match for match in open_matches if match.status == MatchState.RUNNING)
    ended = next(match for match in running if seated[match.id] in due and not {*seated[match.id]} & {*due[0]})
    ended.status = MatchState.FINISHED
    return list(seated[ended.id])


def steps_after_a_match(world: World, accounts: int, due: int) -> dict[str, int]:
    """Return the steps of what a runner does after a match has ended, among 12 full bots of 8 requests."""
    bots = world.bots(12)
    world.execute(update(Bot).values(max_concurrent_requests=8))
    fill(world, bots, due, [world.account() for _ in range(accounts)])
    freed = world.write(end_a_match)
    steps = {}
    with world.database.read() as session:
        with counted(session) as count:
            claims.find_due_work(session)
            steps["what is due"] = count()
        with counted(session) as count:
            match_queue.find_matches(session, 8, look=Look(freed, everywhere=False))
            steps["at the freed bots"] = count()
        with counted(session) as count:
            found = match_queue.find_matches(session, 8, look=Look(freed))
            steps["everywhere"] = count()
    assert found.units
    with world.database.write() as session, counted(session) as count:
        assert len(claims.claim_found(session, found.units[:1])) == 1
        steps["the claim"] = count()
    return steps


@pytest.mark.parametrize(
    ("accounts", "sizes"),
    [
        (1, (200, 1_500, 5_000)),
        pytest.param(1, (200, 2_000, 20_000), marks=pytest.mark.long),
        pytest.param(10, (200, 10_000, 20_000), marks=pytest.mark.long),
    ],
)
def test_a_look_among_full_bots_and_a_claim_cost_the_same_however_many_matches_are_due(
    sqlite_template: Path, tmp_path: Path, accounts: int, sizes: tuple[int, int, int]
) -> None:
    steps = {}
    for due in sizes:
        with new_world(sqlite_template, tmp_path / f"{due}.db") as world:
            steps[due] = steps_after_a_match(world, accounts, due)
            print(due, steps[due])

    few, many, most = (steps[due] for due in sizes)
    for work, count in most.items():
        assert count <= 2 * many[work], work
    # At 200 due matches the windows of the oldest matches are not full yet.
    assert most["the claim"] <= 1.2 * few["the claim"]
    assert most["at the freed bots"] <= accounts * 50_000
