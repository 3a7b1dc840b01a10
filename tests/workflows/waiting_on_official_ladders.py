"""Reasons to wait on an official ladder, each with a bot to which it applies."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, update

from referee.bots import bots, certificates
from referee.bots.states import BotState, CertificateEnd
from referee.bots.tables import Bot
from referee.ladders import members
from referee.ladders.ladder_sync import sync_ladders
from referee.ladders.official import load_official_ladders
from referee.ladders.tables import Ladder, LadderMember, LadderPlayer
from referee.workflows.explaining.waiting_reasons import Reason
from tests.database.checks import newcomer
from tests.database.waits import Case
from tests.database.world import GAME, World, manifest_of
from tests.ladders.official_play import end_all, later, member_of, poker_bot, prepare, sweep


def _on_official(world: World, **changes: Any) -> tuple[str, str]:
    """Return a bot that plays Saint Poker only, whose owner made these changes, and the id of the official ladder."""
    prepare(world)
    bot_id = poker_bot(world)
    with world.database.write() as session:
        members.change_settings(session, bots.get_bot(session, bot_id), changes)
        (ladder_id,) = session.scalars(select(Ladder.id).where(Ladder.official, Ladder.game == GAME))
    return bot_id, ladder_id


def _change(world: World, bot_id: str, **values: Any) -> None:
    world.execute(update(Bot).where(Bot.id == bot_id).values(values))


def _midnight(world: World) -> datetime:
    return members.next_day(world.clock.moment)


def official_off(world: World) -> Case:
    bot_id, _ = _on_official(world, play="off")
    return bot_id, None, Reason("official_off")


def official_game_off(world: World) -> Case:
    bot_id, _ = _on_official(world, games=["pool-nap"])
    return bot_id, None, Reason("official_game_off")


def official_not_listed(world: World) -> Case:
    bot_id, ladder_id = _on_official(world)
    _change(world, bot_id, games=["pool-nap"])
    return bot_id, ladder_id, Reason("official_not_listed")


def official_check(world: World) -> Case:
    prepare(world)
    return newcomer(world), None, Reason("official_check")


def official_no_certificate(world: World) -> Case:
    bot_id, _ = _on_official(world)
    world.write(certificates.end_certificates, bot_id, "1.0", CertificateEnd.FAILED)
    return bot_id, None, Reason("official_no_certificate")


def official_busy(world: World) -> Case:
    prepare(world)
    bot_id = world.bot(manifest=manifest_of(games=[GAME, "pool-nap"]))
    later(world, seconds=31)
    (match,) = sweep(world)
    of_bot = Ladder.official, Ladder.id != match.ladder_id, Ladder.game.in_([GAME, "pool-nap"])
    return bot_id, world.one(select(Ladder.id).where(*of_bot)), Reason("official_busy")


def official_pace(world: World) -> Case:
    bot_id, _ = _on_official(world)
    later(world, seconds=31)
    world.execute(update(LadderMember).where(LadderMember.bot_id == bot_id).values(matches=29))
    sweep(world)
    end_all(world)
    member = member_of(world, bot_id)
    assert member.due_at is not None
    assert member.last_match_at is not None
    assert member.due_at == member.last_match_at + timedelta(minutes=30)
    return bot_id, None, Reason("official_pace", at=member.due_at)


def official_pace_used(world: World) -> Case:
    (standard,) = [one for one in load_official_ladders() if one.game == GAME]
    prepare(world, (replace(standard, daily_matches=1),))
    bot_id = poker_bot(world)
    later(world, seconds=31)
    sweep(world)
    end_all(world)
    return bot_id, None, Reason("official_pace_used", at=_midnight(world))


def official_maximum(world: World) -> Case:
    bot_id, _ = _on_official(world, daily_maximum=1)
    later(world, seconds=31)
    sweep(world)
    end_all(world)
    return bot_id, None, Reason("official_maximum", at=_midnight(world))


def official_recheck(world: World) -> Case:
    bot_id, _ = _on_official(world)
    _change(world, bot_id, status=BotState.UNVERIFIED)
    sweep(world)
    _change(world, bot_id, status=BotState.VERIFIED)
    return bot_id, None, Reason("official_recheck", at=member_of(world, bot_id).due_at)


def official_partner(world: World) -> Case:
    bot_id, _ = _on_official(world)
    due_at = member_of(world, bot_id).due_at
    assert due_at is not None
    return bot_id, None, Reason("official_partner", at=due_at + timedelta(seconds=30))


def official_house_used(world: World) -> Case:
    bot_id, _ = _on_official(world)
    later(world, seconds=31)
    sweep(world)
    end_all(world)
    for _ in range(2):
        poker_bot(world)
    assert sweep(world)
    with world.database.write() as session:  # the two others are in a match
        session.get_one(LadderPlayer, bot_id).match_id = None
    return bot_id, None, Reason("official_house_used")


def official_no_house(world: World) -> Case:
    world.write(sync_ladders, load_official_ladders())
    return poker_bot(world), None, Reason("official_no_house")


def official_next(world: World) -> Case:
    bot_id, _ = _on_official(world)
    later(world, seconds=31)
    return bot_id, None, Reason("official_next")
