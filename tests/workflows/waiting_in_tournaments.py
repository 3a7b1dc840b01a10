"""Reasons to wait in a tournament, each with a bot to which it applies."""

from datetime import timedelta

from referee.bots import bots, handshakes
from referee.tournaments import entries, starting
from referee.tournaments.tables import TournamentRound
from referee.workflows.bots import handshake_results
from referee.workflows.explaining.waiting_reasons import Reason
from tests.database.checks import called, checked
from tests.database.tournaments import answer_handshakes, begin, begun, enter, entered, go_on, start
from tests.database.waits import Case, half_played, make_stuck, resting, steps_until
from tests.database.world import World, manifest_of


def event_not_started(world: World) -> Case:
    _, (bot_id, _) = entered(world, 2)
    return bot_id, None, Reason("event_not_started")


def start_missed(world: World) -> Case:
    tournament_id, (bot_id,) = entered(world, 1, starts_at=world.clock.utc_now() + timedelta(minutes=1))
    world.clock.moment += timedelta(minutes=2)
    world.write(starting.start_if_due, tournament_id)
    return bot_id, None, Reason("start_missed")


def preflight(world: World) -> Case:
    tournament_id, (bot_id, _) = entered(world, 2)
    start(world, tournament_id)
    return bot_id, None, Reason("preflight")


def absent(world: World) -> Case:
    tournament_id, seated = entered(world, 3)
    begin(world, tournament_id, absent=seated[:1])
    return seated[0], None, Reason("absent")


def no_certificate(world: World) -> Case:
    bot_id, _ = resting(world)
    called(world, bot_id, "2.0")
    checked(world, {}, "2.0")
    return bot_id, None, Reason("no_certificate")


def other_game(world: World) -> Case:
    bot_id, tournament_id = resting(world)
    with world.database.write() as session:
        bots.request_handshake(session, bot_id)
        (handshake,) = handshakes.claim_due_handshakes(session)
        handshake_results.finish_handshake(
            session, bot_id, handshake.epoch, {"ok": True}, manifest_of("1.0", ["pool-nap"], 8)
        )
    return bot_id, tournament_id, Reason("other_game")


def other_version(world: World) -> Case:
    bot_id, tournament_id = resting(world, rated=False, frozen_version=True)
    called(world, bot_id, "2.0")
    return bot_id, tournament_id, Reason("other_version")


def joins_later(world: World) -> Case:
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 3}, late_entry=True)
    late = world.bot()
    enter(world, tournament_id, late)
    answer_handshakes(world.database)
    go_on(world.database, tournament_id)
    return late, None, Reason("joins_later", tournament_round=2)


def not_paired(world: World) -> Case:
    tournament_id, (bot_id, _) = entered(world, 2)
    steps_until(world, tournament_id, "begun")
    return bot_id, tournament_id, Reason("not_paired")


def table_to_come(world: World) -> Case:
    tournament_id, (bot_id, _) = entered(world, 2)
    steps_until(world, tournament_id, "paired")
    return bot_id, tournament_id, Reason("table_to_come", tournament_round=1)


def table_empty(world: World) -> Case:
    tournament_id, _ = entered(world, 4, format="swiss")
    steps_until(world, tournament_id, "paired")
    with world.database.write() as session:
        left, bot_id = session.get_one(TournamentRound, (tournament_id, 1)).tables[0]["entrants"]
        entries.withdraw_bot(session, tournament_id, left)
    go_on(world.database, tournament_id)
    return bot_id, tournament_id, Reason("table_empty", tournament_round=1)


def bye(world: World) -> Case:
    bot_id, tournament_id = resting(world)
    return bot_id, tournament_id, Reason("bye", tournament_round=1)


def knocked_out(world: World) -> Case:
    tournament_id, seated = begun(world, 4, format="knockout")
    for claim in world.claim(2):
        world.finish(claim)
    go_on(world.database, tournament_id)
    (final,) = world.get_one(TournamentRound, (tournament_id, 2)).tables
    loser = min(set(seated) - set(final["entrants"]))
    return loser, tournament_id, Reason("knocked_out")


def round_not_over(world: World) -> Case:
    tournament_id, bot_id, _ = half_played(world)
    return bot_id, tournament_id, Reason("round_not_over")


def held_up(world: World) -> Case:
    tournament_id, bot_id, other = half_played(world)
    make_stuck(world, other)
    return bot_id, tournament_id, Reason("held_up")
