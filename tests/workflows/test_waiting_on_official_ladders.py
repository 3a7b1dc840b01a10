"""Reasons to wait on an official ladder, each with a bot to which it applies."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from referee.bots import bots, certificates
from referee.bots.states import BotState, CertificateEnd
from referee.ladders import members
from referee.ladders.ladder_sync import sync_ladders
from referee.ladders.official import load_official_ladders
from referee.ladders.tables import Ladder, LadderPlayer
from referee.workflows.explaining.waiting_reasons import Reason
from tests.database.checks import newcomer, on_one_database
from tests.database.world import GAME, World, manifest_of
from tests.ladders.official_play import finish_all, later, member_of, poker_bot, prepare, sweep
from tests.workflows.waiting_cases import Case, assert_is_the_reason, register_in

CASES: dict[str, Case] = {}
case = register_in(CASES)


def on_official(world: World, **changes: Any) -> tuple[str, str]:
    """Return a bot that plays Saint Poker only, whose owner made these changes, and the id of the official ladder."""
    prepare(world)
    bot_id = poker_bot(world)
    with world.database.write() as session:
        members.change_settings(session, bots.get_bot(session, bot_id), changes)
        (ladder_id,) = session.scalars(select(Ladder.id).where(Ladder.official, Ladder.game == GAME))
    return bot_id, ladder_id


def midnight(world: World) -> datetime:
    return members.next_day(world.clock.moment)


@case
def official_off(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_official(world, play="off")
    return bot_id, None, Reason("official_off")


@case
def official_game_off(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_official(world, games=["pool-nap"])
    return bot_id, None, Reason("official_game_off")


@case
def official_not_listed(world: World) -> tuple[str, str | None, Reason]:
    bot_id, ladder_id = on_official(world)
    with world.database.write() as session:
        bots.get_bot(session, bot_id).games = ["pool-nap"]
    return bot_id, ladder_id, Reason("official_not_listed")


@case
def official_check(world: World) -> tuple[str, str | None, Reason]:
    prepare(world)
    return newcomer(world), None, Reason("official_check")


@case
def official_no_certificate(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_official(world)
    with world.database.write() as session:
        certificates.end_certificates(session, bot_id, "1.0", CertificateEnd.FAILED)
    return bot_id, None, Reason("official_no_certificate")


@case
def official_busy(world: World) -> tuple[str, str | None, Reason]:
    prepare(world)
    bot_id = world.bot(manifest=manifest_of(games=[GAME, "pool-nap"]))
    later(world, seconds=31)
    (match,) = sweep(world)
    with world.database.read() as session:
        (other,) = session.scalars(
            select(Ladder.id).where(Ladder.official, Ladder.id != match.ladder_id, Ladder.game.in_([GAME, "pool-nap"]))
        )
    return bot_id, other, Reason("official_busy")


@case
def official_pace(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_official(world)
    later(world, seconds=31)
    for _ in range(30):
        sweep(world)
        finish_all(world)
    member = member_of(world, bot_id)
    assert member.due_at is not None
    assert member.last_match_at is not None
    assert member.due_at == member.last_match_at + timedelta(minutes=30)
    return bot_id, None, Reason("official_pace", at=member.due_at)


@case
def official_pace_used(world: World) -> tuple[str, str | None, Reason]:
    (standard,) = [one for one in load_official_ladders() if one.game == GAME]
    prepare(world, (replace(standard, daily_matches=1),))
    bot_id = poker_bot(world)
    later(world, seconds=31)
    sweep(world)
    finish_all(world)
    return bot_id, None, Reason("official_pace_used", at=midnight(world))


@case
def official_maximum(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_official(world, daily_maximum=1)
    later(world, seconds=31)
    sweep(world)
    finish_all(world)
    return bot_id, None, Reason("official_maximum", at=midnight(world))


@case
def official_recheck(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_official(world)
    with world.database.write() as session:
        bots.get_bot(session, bot_id).status = BotState.UNVERIFIED
    sweep(world)
    with world.database.write() as session:
        bots.get_bot(session, bot_id).status = BotState.VERIFIED
    return bot_id, None, Reason("official_recheck", at=member_of(world, bot_id).due_at)


@case
def official_partner(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_official(world)
    due_at = member_of(world, bot_id).due_at
    assert due_at is not None
    return bot_id, None, Reason("official_partner", at=due_at + timedelta(seconds=30))


@case
def official_house_used(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_official(world)
    later(world, seconds=31)
    sweep(world)
    finish_all(world)
    for _ in range(2):
        poker_bot(world)
    assert sweep(world)
    with world.database.write() as session:  # the two others are in a match
        session.get_one(LadderPlayer, bot_id).match_id = None
    return bot_id, None, Reason("official_house_used")


@case
def official_no_house(world: World) -> tuple[str, str | None, Reason]:
    with world.database.write() as session:
        sync_ladders(session, load_official_ladders())
    return poker_bot(world), None, Reason("official_no_house")


@case
def official_next(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_official(world)
    later(world, seconds=31)
    return bot_id, None, Reason("official_next")


@on_one_database
@pytest.mark.parametrize("code", CASES)
def test_the_reason_is_the_true_one(world: World, code: str) -> None:
    assert_is_the_reason(world, code, CASES[code])
