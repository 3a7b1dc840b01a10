"""Bots unreachable at the end of matches: paused after three in a row, resumed through a handshake."""

from concurrent.futures import ThreadPoolExecutor

from referee.bots import bots, handshakes, house_bots
from referee.events import BotUnhealthy, Event
from referee.workflows.bots import handshake_results
from referee.workflows.ending import health
from tests.database.world import MANIFEST, World


def test_A7_three_unreachable_streak_in_a_row_pause_a_bot_and_a_handshake_brings_it_back(
    world: World, reported_events: list[Event]
) -> None:
    sick, well = world.bots(2)
    match_id = world.match([sick, well])
    with world.database.write() as session:
        sound = house_bots.get_or_create_house_bot(session, "sound").id
        owner_id = bots.get_bot(session, sick).owner_id

        def sour(*soured: str) -> list[str]:
            return health.update_unreachable_streaks(session, match_id, unreachable=soured, seated=[sick, well, sound])

        assert [sour(sick), sour(sick, sound), sour(), sour(sick, sound), sour(sick, sound)] == [[]] * 5
        assert bots.get_bot(session, sick).status == "verified"  # with a good match in between
        assert sour(sick, sound) == [sick]
        assert sour(sick) == []  # it was running when the bot was paused

    with world.database.write() as session:
        bot = bots.get_bot(session, sick)
        assert (bot.status, bot.status_reason, bot.unreachable_streak) == ("paused", health.PAUSE_REASON, 4)
        assert (bots.get_bot(session, sound).status, bots.get_bot(session, sound).unreachable_streak) == ("house", 0)
        assert bots.get_bot(session, well).unreachable_streak == 0
        reason = health.PAUSE_REASON
        told = BotUnhealthy(accounts=[owner_id], bot=sick, name=bot.name, tournament=None, reason=reason)
        assert reported_events == [told]

        assert bots.resume(session, sick).status == "unverified"
        (handshake,) = handshakes.claim_due_handshakes(session)
        done = handshake_results.finish_handshake(session, sick, handshake.epoch, {"ok": True}, MANIFEST)
        assert done.status == "verified"
        assert bots.get_bot(session, sick).unreachable_streak == 0


def test_bots_that_are_sour_each_in_another_match_of_the_same_moment_lock_nobody_out(world: World) -> None:
    pair = world.bots(2)
    match_id = world.match(pair)
    for bot_id in pair:
        world.write(health.update_unreachable_streaks, match_id, unreachable=[bot_id], seated=[bot_id])

    def ends(sick: str) -> None:
        for _ in range(20):
            world.write(health.update_unreachable_streaks, match_id, unreachable=[sick], seated=pair)

    with ThreadPoolExecutor() as threads:
        list(threads.map(ends, pair))  # a deadlock would raise ``Unavailable``

    with world.database.read() as session:
        # Whose match was noted last is sour; the other may be too, of two that ended at the same moment.
        assert any(bots.get_bot(session, bot_id).unreachable_streak > 0 for bot_id in pair)
