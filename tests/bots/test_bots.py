"""Bots: registration, editing, states; and their handshakes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from referee.bots import bots, handshakes
from referee.bots.bots import Quotas
from referee.bots.handshakes import ClaimedHandshake
from referee.bots.tables import Bot
from referee.db.leases import LEASE_S
from referee.errors import Conflict, NotFound, QuotaExceeded, StaleEpoch
from referee.matches import matches
from referee.protocol.messages import Manifest
from referee.workflows.bots import handshake_results, retirement
from tests.database.world import MANIFEST, World, manifest_of

URL = "http://127.0.0.1:9000/"


def register(world: World, owner: str = "", name: str = "Deep Nap", **more: Any) -> str:
    owner = owner or world.account()
    return world.write(bots.register, owner, name, URL, **more).id


def bot_of(world: World, bot_id: str) -> Bot:
    return world.read(bots.get_bot, bot_id)


def claim(world: World) -> list[ClaimedHandshake]:
    return world.write(handshakes.claim_due_handshakes)


def finish(world: World, claimed: ClaimedHandshake, report: Any = None, manifest: Manifest | None = MANIFEST) -> Bot:
    return world.write(handshake_results.finish_handshake, claimed.bot_id, claimed.epoch, report or {}, manifest)


def test_a_bot_is_unverified_until_it_has_shown_its_manifest(world: World) -> None:
    bot_id = register(world)

    (handshake,) = claim(world)
    before = bot_of(world, bot_id).status
    bot = finish(world, handshake, {"ok": True}, manifest_of("2.1", ["pool-nap"], 4))

    assert (handshake.bot_id, handshake.url, handshake.secret_generations) == (bot_id, URL, (1, 2))
    assert (before, bot.status) == ("unverified", "verified")
    assert (bot.version, bot.games, bot.max_concurrent_requests) == ("2.1", ["pool-nap"], 4)
    assert (bot.verified_url, bot.handshake_state) == (URL, "idle")


def test_a_failed_handshake_leaves_its_report_for_the_owner(world: World) -> None:
    register(world)

    bot = finish(world, claim(world)[0], {"code": "bad_proof"}, None)

    assert (bot.status, bot.handshake_report, bot.verified_url) == ("unverified", {"code": "bad_proof"}, None)


def test_E5_a_bot_of_another_owner_is_not_found(world: World) -> None:
    bot_id = register(world)

    with pytest.raises(NotFound):
        world.read(bots.get_bot, bot_id, owner_id=world.account())


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
    world.write(retirement.retire_bot, last)
    register(world, other, "Yours 2", quotas=quotas)


def test_A14_a_quota_holds_against_many_at_once(world: World) -> None:
    owner = world.account()

    def is_refused(number: int) -> bool:
        try:
            register(world, owner, f"Mine {number}", quotas=Quotas(per_owner=3))
        except QuotaExceeded:
            return True
        return False

    with ThreadPoolExecutor(6) as threads:
        refused = list(threads.map(is_refused, range(6)))

    assert sum(refused) == 3
    assert len(world.read(bots.list_bots, owner_id=owner).items) == 3


def test_E10_an_edit_names_the_revision_it_was_made_to(world: World) -> None:
    bot_id = register(world)
    edited = world.write(bots.edit, bot_id, revision=1, name="Deeper Nap")

    assert (edited.revision, edited.name) == (2, "Deeper Nap")
    with pytest.raises(Conflict):
        world.write(bots.edit, bot_id, revision=1, name="Deepest Nap")


def test_E10_every_change_of_state_is_a_new_revision(world: World) -> None:
    bot_id = world.bot()
    before = bot_of(world, bot_id).revision
    changes: list[Callable[..., Bot]] = [bots.rotate_secret, bots.pause, bots.resume, retirement.retire_bot]

    revisions = []
    for change in changes:
        world.write(change, bot_id, *(["holidays"] if change == bots.pause else []))
        revisions.append(bot_of(world, bot_id).revision - before)

    assert revisions == [1, 2, 3, 4]


def test_A18_a_new_address_counts_after_a_new_challenge_and_not_in_matches_that_began_before(world: World) -> None:
    one, other = world.bots(2)
    begun, old = world.match([one, other]), bot_of(world, one).verified_url
    with world.database.write() as session:
        bot = bots.edit(session, one, revision=2, url="http://127.0.0.1:9999/moved")
        assert (bot.status, bot.handshake_state) == ("unverified", "due")
    # Existing matches use the verified address, and no new ones are created.
    world.claim()
    assert world.load(begun).players[0].url == old
    with pytest.raises(Conflict, match="unverified"):
        world.match([one, other])

    finish(world, claim(world)[0])

    assert world.load(begun).players[0].url == old
    next_match = world.match([one, other])
    assert world.load(next_match).players[0].url == "http://127.0.0.1:9999/moved"


def test_a_handshake_of_the_old_address_does_not_prove_the_new_one(world: World) -> None:
    bot_id = register(world)
    (handshake,) = claim(world)
    world.write(bots.edit, bot_id, revision=1, url="http://127.0.0.1:9001/")

    with pytest.raises(StaleEpoch):
        finish(world, handshake)


def test_a_handshake_whose_claimer_died_is_given_to_the_next(world: World) -> None:
    register(world)
    (first,) = claim(world)
    assert claim(world) == []
    world.pass_seconds(16)
    finish(world, claim(world)[0])

    with pytest.raises(StaleEpoch):
        finish(world, first, manifest=None)


def test_a_handshake_is_requested_once_at_a_time(world: World) -> None:
    bot_id = world.bot()
    with world.database.write() as session:
        bots.request_handshake(session, bot_id)
        bots.request_handshake(session, bot_id)
        assert len(handshakes.claim_due_handshakes(session)) == 1


def test_a_paused_bot_gets_no_new_matches_until_it_goes_on(world: World) -> None:
    one, other = world.bots(2)
    world.write(bots.pause, one, "holidays")
    with pytest.raises(Conflict, match="paused"):
        world.match([one, other])
    assert world.write(bots.resume, one).status == "verified"
    assert world.match([one, other])


def test_E22_a_retired_bot_plays_out_what_it_has_begun(world: World) -> None:
    one, other = world.bots(2)
    begun, arranged = world.match([one, other]), world.match([one, other])
    (claimed,) = world.claim(1)
    world.write(retirement.retire_bot, one)

    assert claimed.match_id == begun
    assert world.finish(claimed).seq == 1
    assert world.read(matches.get_match, arranged).status == "cancelled"
    with pytest.raises(Conflict, match="retired"):
        world.write(bots.rotate_secret, one)


def test_K32_a_rotated_secret_leaves_the_one_before_for_a_day(world: World) -> None:
    bot_id = world.bot()
    bot = world.write(bots.rotate_secret, bot_id)

    assert bot.secret_generation == 2
    assert bot.previous_secret_until is not None
    assert (bot.previous_secret_until - world.clock.moment).total_seconds() == pytest.approx(24 * 3600, abs=1)


def test_a_handshake_that_kills_its_claimers_is_given_up(world: World) -> None:
    bot_id = register(world)
    claimed = []
    for _ in range(4):
        claimed.append(len(claim(world)))
        world.pass_seconds(LEASE_S + 1)

    bot = bot_of(world, bot_id)
    assert claimed == [1, 1, 1, 0]
    assert (bot.status, bot.handshake_state, bot.handshake_lost_claims) == ("unverified", "idle", 0)
    assert bot.handshake_report is not None
    assert bot.handshake_report["challenge"]["code"] == "referee_failed"
