"""Claims of matches: leases, epochs, crashes, limits."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from referee.match.match import Answer
from referee.matches import matches
from referee.matches.logs import recording
from referee.matches.logs.recording import MatchUpdate
from referee.matches.queue import claims
from referee.matches.queue.claims import CLAIMS_BEFORE_STUCK
from referee.workflows.voids import match_cancellation
from tests.database.checks import on_one_database
from tests.database.growth import copy_match, steps_of
from tests.database.world import MANIFEST, World, manifest_of
from tests.surroundings import MASTER_KEY


def status(world: World, match_id: str) -> str:
    return world.read(matches.get_match, match_id).status


def test_K13_claimers_at_once_never_share(world: World) -> None:
    seated = world.bots(2)
    made = {world.match(seated) for _ in range(24)}
    with ThreadPoolExecutor(4) as threads:
        taken = [claim for found in threads.map(lambda _: world.claim(2), range(48)) for claim in found]

    assert len(taken) == 24
    assert {claim.match_id for claim in taken} == made


@on_one_database
def test_K12_a_claim_of_a_match_that_is_over_or_unknown_gives_nothing(world: World) -> None:
    match_id = world.match()
    (claim,) = world.claim()
    world.finish(claim)

    assert world.claim(match_id=match_id) == []
    assert world.claim(match_id=match_id, isolated=True) == []
    assert world.claim(match_id="mat_" + "0" * 26) == []


def test_a_claim_lasts_as_long_as_it_is_renewed(world: World) -> None:
    world.match()
    (claim,) = world.claim()

    for _ in range(5):
        world.pass_seconds(10)
        assert world.write(claims.renew_claims, [claim]) == {claim.match_id}
        assert world.claim() == []
    world.pass_seconds(16)
    (second,) = world.claim()

    assert (second.match_id, second.epoch) == (claim.match_id, claim.epoch + 1)
    assert world.write(claims.renew_claims, [claim, second]) == {claim.match_id}
    assert world.write(claims.renew_claims, [claim]) == set()


def test_K5_a_claim_given_back_is_free_at_once_and_not_counted_as_lost(world: World) -> None:
    match_id = world.match()
    for _ in range(4):
        (claim,) = world.claim()
        with world.database.write() as session:
            assert claims.release_claims(session, [claim]) == 1
            assert claims.release_claims(session, [claim]) == 0

    assert status(world, match_id) == "due"
    assert len(world.claim()) == 1


def test_K20_a_restart_of_the_machine_frees_all_leases_and_blames_no_match(world: World) -> None:
    world.match()
    for boot in ("boot-2", "boot-3", "boot-4", "boot-5"):
        assert len(world.claim()) == (1 if world.database.is_sqlite or boot == "boot-2" else 0)
        assert world.claim() == []
        world.clock.boot_id, world.clock.seconds = boot, 3.0

    # With the server's clock, the restart of a client does not matter: its leases expire.
    assert len(world.claim()) == (1 if world.database.is_sqlite else 0)


def lose(world: World) -> None:
    assert len(world.claim()) == 1
    world.pass_seconds(16)


@on_one_database
def test_a_match_lost_twice_is_played_alone(world: World) -> None:
    poison, other = world.match(), world.match()
    assert world.claim(isolated=True, match_id=poison) == []
    lose_both = world.claim(2)
    world.pass_seconds(16)
    assert world.claim(isolated=True, match_id=poison) == []
    (again,) = world.claim(match_id=poison)
    world.pass_seconds(16)

    assert {claim.match_id for claim in lose_both} == {poison, other}
    assert [claim.match_id for claim in world.claim(5)] == [other]
    assert world.read(claims.find_due_work).isolated == [poison]
    (alone,) = world.claim(5, isolated=True)
    assert (alone.match_id, alone.epoch) == (poison, again.epoch + 1)


@on_one_database
@pytest.mark.parametrize("has_progressed", [True, False])
def test_B16_a_match_that_a_runner_survived_alone_keeps_its_worker_from_others_no_longer(
    world: World, has_progressed: bool
) -> None:
    match_id = world.match()
    lose(world)
    lose(world)
    (claim,) = world.claim(isolated=True)
    match = world.resumed(match_id)

    with world.database.write(durable=False) as session:
        if has_progressed:
            recording.record_batch(session, [MatchUpdate(match_id, claim.epoch, 0, match.lines)])
        claims.release_claims(session, [claim], is_harmless=True)

    assert world.read(claims.find_due_work).isolated == ([] if has_progressed else [match_id])


def test_K3_a_claim_of_a_dead_runner_is_free_at_once_and_counted_as_lost(world: World) -> None:
    match_id, other = world.match(), world.match()
    first, kept = world.claim(2)

    assert world.write(claims.expire_claims, [first]) == 1
    (second,) = world.claim(5)

    assert (second.match_id, second.epoch) == (match_id, first.epoch + 1)
    assert world.write(claims.expire_claims, [first]) == 0  # superseded
    assert world.write(claims.renew_claims, [second, kept]) == {match_id, other}
    assert world.read(matches.get_match, match_id).lost_claims == 1


@on_one_database
def test_K3_K8_a_match_that_is_played_alone_waits_for_its_lease_even_if_its_runner_is_known_to_be_dead(
    world: World,
) -> None:
    world.match()
    for _ in range(2):
        assert world.write(claims.expire_claims, world.claim()) == 1
    (alone,) = world.claim(isolated=True)

    assert world.write(claims.expire_claims, [alone]) == 0
    assert world.claim(isolated=True) == []
    world.pass_seconds(16)
    assert len(world.claim(isolated=True)) == 1


@on_one_database
@pytest.mark.parametrize("has_updates", [False, True])  # without rows, before the first question: they are no progress
def test_K8_a_match_that_kills_every_runner_is_stuck_in_the_end(world: World, has_updates: bool) -> None:
    poison, other = world.match(), world.match()
    for _ in range(2):
        (_,) = world.claim(match_id=poison)
        world.pass_seconds(16)

    for _ in range(CLAIMS_BEFORE_STUCK):
        (claim,) = world.claim(isolated=True)
        if has_updates:
            with world.database.write(durable=False) as session:
                assert recording.record_batch(session, [MatchUpdate(poison, claim.epoch)]) == set()
        world.pass_seconds(16)

    assert world.claim(isolated=True) == []
    assert (status(world, poison), status(world, other)) == ("stuck", "due")
    todo = world.read(claims.find_due_work)
    assert (todo.isolated, todo.matches_due) == ([], True)
    assert world.write(match_cancellation.cancel_match, poison, master_key=MASTER_KEY).status == "cancelled"


@on_one_database
def test_K8_a_recorded_row_starts_the_count_anew(world: World) -> None:
    match_id = world.match()
    lose(world)
    lose(world)
    for _ in range(2 * CLAIMS_BEFORE_STUCK):
        (claim,) = world.claim(isolated=True)
        match = world.resumed(match_id)
        start = len(world.load(match_id).lines)
        for request in match.requests():
            match.receive(Answer(request.seat, choice=0))
        if match.over:
            break
        with world.database.write(durable=False) as session:
            recording.record_batch(session, [MatchUpdate(match_id, claim.epoch, start, match.lines[start:])])
        world.pass_seconds(16)

    assert status(world, match_id) == "running"


def test_no_bot_is_given_more_matches_than_it_takes_calls(world: World) -> None:
    busy, *others = world.bot(manifest=manifest_of("1", MANIFEST.games, 2)), *world.bots(5)
    blocked = [world.match([busy, other]) for other in others[:4]]
    free = world.match(others[3:5])

    first = world.claim(10)

    assert [claim.match_id for claim in first] == [*blocked[:2], free]
    assert world.claim(10) == []
    world.finish(first[0])
    assert [claim.match_id for claim in world.claim(10)] == [blocked[2]]
    world.pass_seconds(16)  # the claims are lost, so the calls are free again
    assert len(world.claim(10)) == 3


@on_one_database
def test_a_bot_with_one_call_can_sit_at_a_table_twice(world: World) -> None:
    bot = world.bot(manifest=manifest_of("1", MANIFEST.games, 1))
    world.match([bot, bot])
    world.match([bot, bot])

    assert len(world.claim(10)) == 1


@on_one_database
def test_matches_are_due_until_all_are_claimed_and_again_when_a_lease_expires(world: World) -> None:
    seen = [due(world)]
    for step in (world.match, world.claim, lambda: world.pass_seconds(16), world.claim):
        step()
        seen.append(due(world))

    assert seen == [False, True, False, True, False]


@on_one_database
def test_what_is_due_is_found_at_the_same_cost_however_much_is_due(world: World) -> None:
    match_id = world.match()
    copy_match(world, match_id, 200)
    few = steps_of(world, claims.find_due_work)
    copy_match(world, match_id, 4_000)

    assert steps_of(world, claims.find_due_work) == few


def due(world: World) -> bool:
    todo = world.read(claims.find_due_work)
    assert (todo.bots_due, todo.isolated) == (False, [])
    return todo.matches_due
