"""What looks for due matches and claims cost while bots are full, counted in steps of SQLite's virtual machine."""

from itertools import combinations, cycle, islice, pairwise

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.matches import matches, scheduling
from referee.matches.queue import claims, match_queue
from referee.matches.queue.match_queue import Look
from referee.matches.queue.queue_progress import load_progress
from referee.matches.queue.shares import Pool, slot_shares
from referee.matches.scheduling import MatchPlan
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from tests.database.checks import on_one_database
from tests.database.growth import steps_of
from tests.database.world import World
from tests.matches.test_match_queue import plan
from tests.surroundings import MASTER_KEY

SLOTS = Pool(100, slot_shares)


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


def steps_after_a_match(world: World) -> dict[str, int]:
    """Return the steps of what a runner does after a match has ended, among full bots."""
    assert world.read(load_progress, SLOTS).claimable is None
    full = steps_of(world, lambda session: load_progress(session, SLOTS))
    freed = world.write(end_a_match)
    near = Look(freed, everywhere=False)
    assert world.read(load_progress, SLOTS).claimable is not None
    found = world.read(match_queue.find_matches, 8, look=Look(freed)).units[:1]
    steps = {
        "a look at the queue while all are full": full,
        "a look at the queue": steps_of(world, lambda session: load_progress(session, SLOTS)),
        "what is due": steps_of(world, claims.find_due_work),
        "at the freed bots": steps_of(world, lambda session: match_queue.find_matches(session, 8, look=near)),
        "everywhere": steps_of(world, lambda session: match_queue.find_matches(session, 8, look=Look(freed))),
        "the claim": steps_of(world, lambda session: claims.claim_found(session, found)),
    }
    assert len(world.write(claims.claim_found, found)) == 1
    return steps


@on_one_database
@pytest.mark.parametrize(
    ("accounts", "sizes"),
    [
        (1, (200, 700, 2_100)),
        pytest.param(1, (200, 2_000, 20_000), marks=pytest.mark.long),
        pytest.param(10, (200, 10_000, 20_000), marks=pytest.mark.long),
    ],
)
def test_a_look_among_full_bots_and_a_claim_cost_the_same_however_many_matches_are_due(
    world: World, accounts: int, sizes: tuple[int, int, int]
) -> None:
    bots, creators = world.bots(12), [world.account() for _ in range(accounts)]
    world.execute(update(Bot).values(max_concurrent_requests=8))
    steps = []
    for before, due in pairwise((0, *sizes)):
        fill(world, bots, due - before, creators)
        steps.append(steps_after_a_match(world))
        print(due, steps[-1])

    few, many, most = steps
    for work, count in most.items():
        assert count <= 2 * many[work], work
    # At 200 due matches the windows of the oldest matches are not full yet.
    assert most["the claim"] <= 1.2 * few["the claim"]
    assert most["at the freed bots"] <= accounts * 50_000
