"""Reasons of an open match to wait, and of a bot to have none at all, each with a bot to which it applies."""

from datetime import timedelta

from referee.bots import bots, handshakes
from referee.matches.queue import claims
from referee.matches.queue.shares import create_slots
from referee.matches.tables import MatchSeat, StoredMatch
from referee.tournaments import lifecycle
from referee.workflows.bots import check_claims, handshake_results, retirement
from referee.workflows.ending import health
from referee.workflows.explaining.waiting_reasons import Reason
from tests.database.checks import newcomer
from tests.database.tournaments import begun
from tests.database.waits import Case, full, lost_twice, make_stuck, registered
from tests.database.world import MANIFEST, World, manifest_of
from tests.matches.test_match_queue import arranged, plan


def next_(world: World) -> Case:
    bot_id, other = world.bots(2)
    world.match([bot_id, other])
    return bot_id, None, Reason("next")


def behind(world: World) -> Case:
    world.match()
    bot_id, other = world.bots(2)
    world.match([bot_id, other])
    return bot_id, None, Reason("behind", ahead=1)


def runner_needed(world: World) -> Case:
    bot_id, *_ = next_(world)
    world.clock.moment += timedelta(minutes=1)
    return bot_id, None, Reason("runner_needed")


def played_alone(world: World) -> Case:
    bot_id, other = world.bots(2)
    lost_twice(world, world.match([bot_id, other]))
    return bot_id, None, Reason("played_alone")


def alone_first(world: World) -> Case:
    played_alone(world)
    bot_id, *_ = next_(world)
    return bot_id, None, Reason("alone_first")


def game_missing(world: World) -> Case:
    bot_id, other = world.bots(2)
    match_id = world.match([bot_id, other])
    with world.database.write() as session:
        session.get_one(StoredMatch, match_id).rules_version += 1
    assert world.claim() == []
    return bot_id, None, Reason("game_missing")


def stuck(world: World) -> Case:
    bot_id, other = world.bots(2)
    make_stuck(world, world.match([bot_id, other]))
    return bot_id, None, Reason("stuck")


def bot_full(world: World) -> Case:
    bot_id, (_, second) = full(world)
    return bot_id, second, Reason("bot_full")


def rival_full(world: World) -> Case:
    _, (_, second) = full(world)
    rival = world.get_one(MatchSeat, (second, 1)).bot_id
    return rival, second, Reason("rival_full", seat=0)


def check_running(world: World) -> Case:
    bot_id = newcomer(world)
    with world.database.write() as session:
        bots.get_bot(session, bot_id).max_concurrent_requests = 4
        assert len(check_claims.claim_due(session, 1)) == 1
    world.match([bot_id, world.bot()], rated=False)
    return bot_id, None, Reason("check_running")


def friendly_share(world: World) -> Case:
    account_id, (bot_id, other) = world.account(), world.bots(2)
    first, second = (world.match([bot_id, other], rated=False, created_by=account_id) for _ in range(2))
    assert [claim.match_id for claim in world.claim(2, slots=create_slots(4))] == [first]
    return bot_id, second, Reason("friendly_share")


def friendlies_of_bot(world: World) -> Case:
    bot_id, other = world.bot(), world.bot(manifest=manifest_of("1", MANIFEST.games, 2))
    first, second = (world.match([bot_id, other], rated=False) for _ in range(2))
    assert [claim.match_id for claim in world.claim(2)] == [first]
    return bot_id, second, Reason("friendlies_of_bot", seat=1)


def group_opening(world: World) -> Case:
    bot_id, other = world.bots(2)
    match_id = world.match([bot_id, other])
    world.claim()
    return bot_id, match_id, Reason("group_opening")


def group_playing(world: World) -> Case:
    pair = world.bots(2)
    arranged(world, *[plan(pair, together="a")] * 2)
    claimed = world.claim(2)
    world.write(claims.release_claims, claimed[:1])
    return pair[0], claimed[0].match_id, Reason("group_playing")


def tournament_paused(world: World) -> Case:
    tournament_id, (bot_id, _) = begun(world, 2)
    world.write(lifecycle.pause, tournament_id)
    return bot_id, None, Reason("tournament_paused")


# -- of the bot --


def not_verified(world: World) -> Case:
    return registered(world), None, Reason("not_verified")


def handshake_failed(world: World) -> Case:
    bot_id = registered(world)
    with world.database.write() as session:
        (handshake,) = handshakes.claim_due_handshakes(session)
        handshake_results.finish_handshake(
            session, bot_id, handshake.epoch, {"ok": False, "challenge": {"ok": False}}, None
        )
    return bot_id, None, Reason("handshake_failed")


def paused(world: World) -> Case:
    bot_id = world.bot()
    world.write(bots.pause, bot_id)
    return bot_id, None, Reason("paused")


def unhealthy(world: World) -> Case:
    bot_id, match_id = world.bot(), world.match()
    with world.database.write() as session:
        for _ in range(bots.MAX_UNREACHABLE_STREAK):
            health.update_unreachable_streaks(session, match_id, unreachable=[bot_id], seated=[bot_id])
    return bot_id, None, Reason("unhealthy")


def retired(world: World) -> Case:
    bot_id = world.bot()
    world.write(retirement.retire_bot, bot_id)
    return bot_id, None, Reason("retired")


def not_entered(world: World) -> Case:
    return world.bot(), None, Reason("not_entered")
