"""The list of the bots of due matches agrees with the matches after all that may happen to a tournament."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.orm import Session

from referee.matches import cancelling
from referee.matches.queue import claims
from referee.matches.tables import StoredMatch
from referee.tournaments import entries, lifecycle
from referee.workflows.bots import retirement
from referee.workflows.ending import match_retry
from referee.workflows.voids import tournament_cancellation
from tests.database.checks import on_one_database
from tests.database.queue import due_seats, listed
from tests.database.tournaments import begun, go_on
from tests.database.waits import make_stuck
from tests.database.world import World
from tests.surroundings import MASTER_KEY

DUPLICATE = {"deal_sharing": "duplicate", "orders": "all", "trusted": True}
pytestmark = on_one_database


def cancel_tournament(session: Session, tournament_id: str) -> None:
    tournament_cancellation.cancel_tournament(session, tournament_id, master_key=MASTER_KEY)


def cancel_unstarted(session: Session, tournament_id: str) -> None:
    cancelling.cancel_unstarted(session, StoredMatch.tournament_id == tournament_id, "a test")


@pytest.mark.parametrize("terms", [{}, DUPLICATE], ids=["own", "duplicate"])
@pytest.mark.parametrize("cancel", [cancel_tournament, cancel_unstarted])
def test_no_match_is_listed_after_all_were_cancelled(
    world: World, cancel: Callable[[Session, str], None], terms: dict[str, Any]
) -> None:
    tournament_id, _ = begun(world, 4, **terms)
    claimed = world.claim(2)
    world.finish(claimed[0])
    assert listed(world.database) == due_seats(world.database) != set()

    world.write(cancel, tournament_id)

    assert listed(world.database) == due_seats(world.database) == set()


def test_no_match_is_listed_after_a_tournament_has_finished(world: World) -> None:
    tournament_id, _ = begun(world, 4, format="knockout")
    while claimed := world.claim(50):
        assert listed(world.database) == due_seats(world.database)
        for claim in claimed:
            world.finish(claim)
        steps = go_on(world.database, tournament_id)
        assert listed(world.database) == due_seats(world.database)

    assert steps[-1] == "finished"
    assert listed(world.database) == set()


def test_a_pause_empties_the_list_and_its_end_fills_it_again(world: World) -> None:
    tournament_id, _ = begun(world, 4)
    before = listed(world.database)

    world.write(lifecycle.pause, tournament_id)
    during = listed(world.database)
    world.write(lifecycle.resume, tournament_id)

    assert (during, listed(world.database)) == (set(), before)


def test_the_list_follows_withdrawals_retirements_lost_and_voided_matches(world: World) -> None:
    tournament_id, seated = begun(world, 6)
    changes: list[Callable[[World, str, str], None]] = [withdraw, retire, retry, void, release]
    for number, change in enumerate(changes):
        change(world, tournament_id, seated[number])

        assert listed(world.database) == due_seats(world.database) != set(), change


# -- what may happen to a match or a bot --


def withdraw(world: World, tournament_id: str, bot_id: str) -> None:
    world.write(entries.withdraw_bot, tournament_id, bot_id)


def retire(world: World, _: str, bot_id: str) -> None:
    world.write(retirement.retire_bot, bot_id)


def retry(world: World, *__: str) -> None:
    match_id, _, _ = min(listed(world.database))
    make_stuck(world, match_id)
    assert listed(world.database) == due_seats(world.database)
    world.write(match_retry.retry_match, match_id)


def void(world: World, *__: str) -> None:
    (claim,) = world.claim(1)
    world.finish(claim)
    world.void(claim.match_id, rematch=True)


def release(world: World, *__: str) -> None:
    claimed = world.claim(2)
    world.write(claims.release_claims, claimed[:1])
