"""Checks of bots: their order, claims, progress and outcome."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from referee.bots import bots, checks, handshakes
from referee.bots.checks import GIVEN_UP, LOST_BEFORE_GIVEN_UP, CheckOutcome
from referee.db.leases import LEASE_S
from referee.errors import StaleEpoch
from referee.matches.queue import capacity, claims
from referee.matches.tables import StoredMatch
from referee.protocol.messages import PROTOCOL
from referee.workflows.bots import check_claims, handshake_results
from tests.database.checks import BOTH, called, claimed, ended, held, lacking, newcomer, on_one_database, row_of
from tests.database.world import GAME, World, manifest_of


def test_progress_is_told_and_holds_the_claim_on(world: World) -> None:
    bot_id = newcomer(world)
    one = claimed(world)

    for asked in (7, 15):
        world.pass_seconds(LEASE_S - 1)
        world.write(checks.tell, one, asked, 60, "pool-nap")
        assert world.write(check_claims.claim_due, 1) == []

    row = row_of(world, bot_id)
    assert (row.state, row.questions_sent, row.questions_total, row.current_step) == ("running", 15, 60, "pool-nap")
    assert world.read(claims.find_due_work).bots_due == 0
    world.pass_seconds(LEASE_S + 1)
    assert world.read(claims.find_due_work).bots_due == 1


def test_a_check_that_was_claimed_again_or_dropped_writes_nothing(world: World) -> None:
    bot_id = newcomer(world)
    first = claimed(world)
    world.pass_seconds(LEASE_S + 1)
    second = claimed(world)

    with pytest.raises(StaleEpoch):
        ended(world, first, BOTH)
    world.write(checks.give_back, second)
    third = claimed(world)
    bot = world.read(bots.get_bot, bot_id)
    world.write(bots.edit, bot_id, revision=bot.revision, url="http://127.0.0.1:8998/")
    with pytest.raises(StaleEpoch):
        ended(world, third, BOTH)

    row = row_of(world, bot_id)
    assert (row.state, row.requested_by_owner, row.lost_claims) == ("idle", True, 0)
    assert held(world, bot_id) == []


@on_one_database
def test_a_check_whose_claimers_die_is_given_up(world: World) -> None:
    bot_id = newcomer(world)
    for _ in range(LOST_BEFORE_GIVEN_UP):
        claimed(world)
        world.pass_seconds(LEASE_S + 1)

    assert world.write(check_claims.claim_due, 3) == []

    row = row_of(world, bot_id)
    assert (row.state, row.report) == ("idle", GIVEN_UP)


@on_one_database
def test_a_bot_replaced_while_it_was_checked_is_what_was_checked(world: World) -> None:
    bot_id = newcomer(world)
    one = claimed(world)
    with world.database.write() as session:
        outcome = CheckOutcome(
            "1.1", BOTH, BOTH, PROTOCOL, {}, games=[GAME, "pool-nap", "chess"], max_concurrent_requests=3
        )
        checks.finish(session, one, outcome)
        bot = bots.get_bot(session, bot_id)
        assert (bot.version, bot.games, bot.max_concurrent_requests) == ("1.1", [GAME, "pool-nap", "chess"], 3)

    assert held(world, bot_id) == [("1.1", BOTH, None)]
    assert lacking(world, bot_id) is None


@on_one_database
def test_a_bot_called_again_while_it_was_checked_is_what_its_manifest_said_then(world: World) -> None:
    bot_id = newcomer(world)
    one = claimed(world)
    world.clock.moment += timedelta(seconds=9)
    called(world, bot_id, "2.0")
    ended(world, one, BOTH, "1.0")

    assert held(world, bot_id) == [("1.0", BOTH, None)]
    assert "a check is in progress" in (lacking(world, bot_id) or "")
    assert row_of(world, bot_id).state == "due"


@on_one_database
def test_a_bot_that_is_checked_plays_less_and_one_that_plays_all_it_can_is_checked_later(world: World) -> None:
    bot_id = newcomer(world)
    with world.database.write() as session:
        bots.get_bot(session, bot_id).max_concurrent_requests = 6
    match_id = world.match([bot_id, world.bot()], rated=False)
    world.claim()

    one = claimed(world)
    left = world.read(capacity.calls_left, *world.clock.boot())
    with world.database.write() as session:
        checks.give_back(session, one)
        bots.get_bot(session, bot_id).max_concurrent_requests = 1

    assert one.at_once == capacity.CALLS_PER_CHECK
    assert left[bot_id] == 6 - 1 - one.at_once
    assert world.write(check_claims.claim_due, 3) == []
    world.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(status="finished"))
    assert claimed(world).at_once == 1


def test_owners_take_turns_and_nobody_waits_for_all_bots_of_another(world: World) -> None:
    with world.database.write() as session:
        owners = [world._account(session) for _ in range(2)]
        greedy = [
            bots.register(session, owners[0], f"Greedy {number}", f"http://127.0.0.1:{8100 + number}/").id
            for number in range(5)
        ]
    for _ in greedy:
        with world.database.write() as session:
            (handshake,) = handshakes.claim_due_handshakes(session, 1)
            bot = bots.get_bot(session, handshake.bot_id)
            handshake_results.finish_handshake(
                session, bot.id, handshake.epoch, {"ok": True}, manifest_of("1.0", [GAME], 100)
            )
            checks.want(session, bot.id)
    world.clock.moment += timedelta(minutes=1)
    modest = newcomer(world)

    first = world.write(check_claims.claim_due, 2)
    second = world.write(check_claims.claim_due, 2)

    assert modest in {one.bot_id for one in first}
    assert {one.bot_id for one in (*first, *second)} - {modest} <= {*greedy}
    assert len(first) == len(second) == 2


@on_one_database
def test_a_bot_that_names_another_version_every_time_is_checked_once(world: World) -> None:
    bot_id = newcomer(world)
    ended(world, claimed(world), BOTH, "1.1")

    assert world.write(handshakes.claim_due_handshakes) == []
    assert world.read(bots.get_bot, bot_id).version == "1.1"
    assert row_of(world, bot_id).state == "idle"
    assert lacking(world, bot_id) is None


@on_one_database
@pytest.mark.parametrize("pauses", [False, True])
def test_nobody_is_checked_whose_last_handshake_failed(world: World, pauses: bool) -> None:
    bot_id = newcomer(world)
    with world.database.write() as session:
        if pauses:
            bots.pause(session, bot_id)
        bots.request_handshake(session, bot_id)
        (handshake,) = handshakes.claim_due_handshakes(session)
        failed = {"ok": False, "challenge": {"ok": False, "code": "wrong_proof"}, "manifest": None}
        handshake_results.finish_handshake(session, bot_id, handshake.epoch, failed, None)

        assert check_claims.claim_due(session, 3) == []
        assert claims.find_due_work(session).bots_due == 0
    called(world, bot_id)
    assert claimed(world).bot_id == bot_id
