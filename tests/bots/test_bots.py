"""Bots: registration, editing, states; and their handshakes."""

import threading
from typing import Any

import pytest

from referee.bots import bots, handshakes
from referee.bots.bots import Quotas
from referee.db.leases import LEASE_S
from referee.errors import Conflict, NotFound, QuotaExceeded, StaleEpoch
from referee.matches import matches
from referee.workflows.bots import handshake_results, retirement
from tests.database.world import MANIFEST, World, manifest_of

URL = "http://127.0.0.1:9000/"


def register(world: World, owner: str, name: str, url: str = URL, **more: Any) -> str:
    with world.database.write() as session:
        return bots.register(session, owner, name, url, **more).id


def test_a_bot_is_unverified_until_it_has_shown_its_manifest(world: World) -> None:
    owner = world.account()
    bot_id = register(world, owner, "Deep Nap")
    with world.database.write() as session:
        (handshake,) = handshakes.claim_due_handshakes(session)
        before = bots.get_bot(session, bot_id).status
        bot = handshake_results.finish_handshake(
            session, bot_id, handshake.epoch, {"ok": True}, manifest_of("2.1", ["pool-nap"], 4)
        )

    assert (handshake.bot_id, handshake.url, handshake.secret_generations, before) == (
        bot_id,
        URL,
        (1, 2),
        "unverified",
    )
    assert (bot.status, bot.version, bot.games, bot.max_concurrent_requests) == ("verified", "2.1", ["pool-nap"], 4)
    assert (bot.verified_url, bot.handshake_state) == (URL, "idle")


def test_a_failed_handshake_leaves_its_report_for_the_owner(world: World) -> None:
    bot_id = register(world, world.account(), "Deep Nap")
    with world.database.write() as session:
        (handshake,) = handshakes.claim_due_handshakes(session)
        bot = handshake_results.finish_handshake(session, bot_id, handshake.epoch, {"code": "bad_proof"}, None)

    assert (bot.status, bot.handshake_report, bot.verified_url) == ("unverified", {"code": "bad_proof"}, None)


def test_E5_a_bot_of_another_owner_is_not_found(world: World) -> None:
    bot_id = register(world, world.account(), "Deep Nap")

    with pytest.raises(NotFound), world.database.read() as session:
        bots.get_bot(session, bot_id, owner_id=world.account())


def test_A14_owners_and_hosts_have_quotas(world: World) -> None:
    owner, other = world.account(), world.account()
    quotas = Quotas(per_owner=2, per_host=3)
    for number in range(2):
        register(world, owner, f"Mine {number}", quotas=quotas)

    with pytest.raises(QuotaExceeded, match="owner"):
        register(world, owner, "Mine too", quotas=quotas)
    last = register(world, other, "Yours 1", quotas=quotas)
    with pytest.raises(QuotaExceeded, match="host"):
        register(world, other, "Yours 2", quotas=quotas)
    with world.database.write() as session:
        retirement.retire_bot(session, last)
    register(world, other, "Yours 2", quotas=quotas)


def test_A14_a_quota_holds_against_many_at_once(world: World) -> None:
    owner = world.account()
    refused = []

    def one(number: int) -> None:
        try:
            register(world, owner, f"Mine {number}", quotas=Quotas(per_owner=3))
        except QuotaExceeded:
            refused.append(number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    with world.database.read() as session:
        assert len(bots.list_bots(session, owner_id=owner).items) == 3
    assert len(refused) == 3


def test_E10_an_edit_names_the_revision_it_was_made_to(world: World) -> None:
    bot_id = register(world, world.account(), "Deep Nap")
    with world.database.write() as session:
        edited = bots.edit(session, bot_id, revision=1, name="Deeper Nap")

    assert (edited.revision, edited.name) == (2, "Deeper Nap")
    with pytest.raises(Conflict), world.database.write() as session:
        bots.edit(session, bot_id, revision=1, name="Deepest Nap")


def test_A18_a_new_address_counts_only_after_a_new_challenge(world: World) -> None:
    one, other = world.bots(2)
    old = world.match([one, other])
    with world.database.write() as session:
        proven = bots.get_bot(session, one).verified_url
        bot = bots.edit(session, one, revision=bots.get_bot(session, one).revision, url="http://127.0.0.1:9999/victim")
        assert (bot.status, bot.handshake_state) == ("unverified", "due")

    # Existing matches use the verified address, and no new ones are created.
    world.claim()
    assert world.load(old).players[0].url == proven
    with pytest.raises(Conflict, match="unverified"):
        world.match([one, other])


def test_A18_a_match_keeps_the_addresses_it_began_with(world: World) -> None:
    one, other = world.bots(2)
    match_id = world.match([one, other])
    world.claim()
    before = world.load(match_id).players[0].url
    with world.database.write() as session:
        bots.edit(session, one, revision=2, url="http://127.0.0.1:9999/moved")
        (handshake,) = handshakes.claim_due_handshakes(session)
        handshake_results.finish_handshake(session, one, handshake.epoch, {}, MANIFEST)

    assert world.load(match_id).players[0].url == before
    next_match = world.match([one, other])
    assert world.load(next_match).players[0].url == "http://127.0.0.1:9999/moved"


def test_a_handshake_of_the_old_address_does_not_prove_the_new_one(world: World) -> None:
    bot_id = register(world, world.account(), "Deep Nap")
    with world.database.write() as session:
        (handshake,) = handshakes.claim_due_handshakes(session)
        bots.edit(session, bot_id, revision=1, url="http://127.0.0.1:9001/")

    with pytest.raises(StaleEpoch), world.database.write() as session:
        handshake_results.finish_handshake(session, bot_id, handshake.epoch, {}, MANIFEST)


def test_a_handshake_whose_claimer_died_is_given_to_the_next(world: World) -> None:
    bot_id = register(world, world.account(), "Deep Nap")
    with world.database.write() as session:
        (first,) = handshakes.claim_due_handshakes(session)
        assert handshakes.claim_due_handshakes(session) == []
    world.pass_seconds(16)
    with world.database.write() as session:
        (second,) = handshakes.claim_due_handshakes(session)
        handshake_results.finish_handshake(session, bot_id, second.epoch, {}, MANIFEST)

    with pytest.raises(StaleEpoch), world.database.write() as session:
        handshake_results.finish_handshake(session, bot_id, first.epoch, {}, None)


def test_a_handshake_is_requested_once_at_a_time(world: World) -> None:
    bot_id = world.bot()
    with world.database.write() as session:
        bots.request_handshake(session, bot_id)
        bots.request_handshake(session, bot_id)
        assert len(handshakes.claim_due_handshakes(session)) == 1


def test_a_paused_bot_gets_no_new_matches_until_it_goes_on(world: World) -> None:
    one, other = world.bots(2)
    with world.database.write() as session:
        bots.pause(session, one, "holidays")
    with pytest.raises(Conflict, match="paused"):
        world.match([one, other])
    with world.database.write() as session:
        assert bots.resume(session, one).status == "verified"
    assert world.match([one, other])


def test_E22_a_retired_bot_plays_out_what_it_has_begun(world: World) -> None:
    one, other = world.bots(2)
    begun, arranged = world.match([one, other]), world.match([one, other])
    (claim,) = world.claim(1)
    with world.database.write() as session:
        retirement.retire_bot(session, one)

    assert claim.match_id == begun
    assert world.finish(claim).seq == 1
    with world.database.read() as session:
        assert matches.get_match(session, arranged).status == "cancelled"
    with pytest.raises(Conflict, match="retired"), world.database.write() as session:
        bots.rotate_secret(session, one)


def test_K32_a_rotated_secret_leaves_the_one_before_for_a_day(world: World) -> None:
    bot_id = world.bot()
    with world.database.write() as session:
        bot = bots.rotate_secret(session, bot_id)

    assert bot.secret_generation == 2
    assert bot.previous_secret_until is not None
    assert (bot.previous_secret_until - world.clock.moment).total_seconds() == pytest.approx(24 * 3600, abs=1)


def test_a_handshake_that_kills_its_claimers_is_given_up(world: World) -> None:
    bot_id = register(world, world.account(), "Poison")
    claimed = []
    for _ in range(4):
        with world.database.write() as session:
            claimed.append(len(handshakes.claim_due_handshakes(session)))
        world.pass_seconds(LEASE_S + 1)

    with world.database.read() as session:
        bot = bots.get_bot(session, bot_id)

    assert claimed == [1, 1, 1, 0]
    assert (bot.status, bot.handshake_state) == ("unverified", "idle")
    assert bot.handshake_report is not None
    assert bot.handshake_report["challenge"]["code"] == "referee_failed"
