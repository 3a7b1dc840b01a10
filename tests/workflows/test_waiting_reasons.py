"""Every reason to wait, with a bot to which exactly this reason applies."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from referee.bots import bots, certificates, handshakes
from referee.bots.states import BotState, CertificateEnd
from referee.errors import NotFound
from referee.ladders import members
from referee.ladders.kinds import LadderPlay
from referee.ladders.ladder_sync import sync_ladders
from referee.ladders.official import load_official_ladders
from referee.ladders.tables import Ladder, LadderPlayer
from referee.matches import claims
from referee.matches.shares import Pool, slot_shares
from referee.matches.tables import MatchSeat
from referee.tournaments import entries, lifecycle, starting
from referee.tournaments.tables import TournamentRound
from referee.workflows import check_claims, handshake_results, health, retirement, waiting
from referee.workflows.waiting_reasons import REASONS, Reason
from tests.database.checks import called, checked, newcomer, on_one_database
from tests.database.tournaments import answer_handshakes, begin, begun, create, enter, entered, go_on, start
from tests.database.waits import full, half_played, lost_twice, make_stuck, on_ladder, registered, resting, steps_until
from tests.database.world import GAME, MANIFEST, World, manifest_of
from tests.ladders.test_official_ladders import finish_all, later, member_of, poker_bot, prepare, sweep
from tests.matches.test_match_queue import arranged, plan

Case = Callable[
    [World], tuple[str, str | None, Reason]
]  # the bot, its match or tournament (None: the most important reason)
CASES: dict[str, Case] = {}


def case(builder: Case) -> Case:
    CASES[builder.__name__.rstrip("_")] = builder
    return builder


@on_one_database
@pytest.mark.parametrize("code", REASONS)
def test_the_reason_is_the_true_one(world: World, code: str) -> None:
    bot_id, where, expected = CASES[code](world)

    with world.database.read() as session:
        found = waiting.explain_waiting(session, bot_id, runner_slots=4)

    told = (
        {one.match_id: one.reason for one in found.matches}
        | {one.tournament_id: one.reason for one in found.tournaments}
        | {one.ladder_id: one.reason for one in found.ladders}
    )
    reason = found.reason if where is None else told[where]
    assert reason == expected
    assert expected.code == code
    assert "None" not in expected.text


@on_one_database
def test_an_unknown_bot_is_not_found(world: World) -> None:
    with world.database.read() as session, pytest.raises(NotFound):
        waiting.explain_waiting(session, "bot_0", runner_slots=4)


def test_the_page_on_tournaments_lists_every_reason_in_its_words() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tournaments.md").read_text()

    listed = re.findall(r"^\| `(\w+)` \| (.+) \|$", page.split("## Why a bot waits")[1].split("\n## ")[0], re.MULTILINE)

    assert dict(listed) == {
        code: text.format(ahead="N", seat="N", tournament_round="N", at="T") for code, text in REASONS.items()
    }


# -- of a match --


@case
def next_(world: World) -> tuple[str, str | None, Reason]:
    bot_id, other = world.bots(2)
    world.match([bot_id, other])
    return bot_id, None, Reason("next")


@case
def behind(world: World) -> tuple[str, str | None, Reason]:
    world.match()
    bot_id, other = world.bots(2)
    world.match([bot_id, other])
    return bot_id, None, Reason("behind", ahead=1)


@case
def runner_needed(world: World) -> tuple[str, str | None, Reason]:
    bot_id, *_ = next_(world)
    world.clock.moment += timedelta(minutes=1)
    return bot_id, None, Reason("runner_needed")


@case
def played_alone(world: World) -> tuple[str, str | None, Reason]:
    bot_id, other = world.bots(2)
    lost_twice(world, world.match([bot_id, other]))
    return bot_id, None, Reason("played_alone")


@case
def alone_first(world: World) -> tuple[str, str | None, Reason]:
    played_alone(world)
    bot_id, *_ = next_(world)
    return bot_id, None, Reason("alone_first")


@case
def stuck(world: World) -> tuple[str, str | None, Reason]:
    bot_id, other = world.bots(2)
    make_stuck(world, world.match([bot_id, other]))
    return bot_id, None, Reason("stuck")


@case
def bot_full(world: World) -> tuple[str, str | None, Reason]:
    bot_id, (_, second) = full(world)
    return bot_id, second, Reason("bot_full")


@case
def rival_full(world: World) -> tuple[str, str | None, Reason]:
    _, (_, second) = full(world)
    with world.database.read() as session:
        rival = session.get_one(MatchSeat, (second, 1)).bot_id
    return rival, second, Reason("rival_full", seat=0)


@case
def check_running(world: World) -> tuple[str, str | None, Reason]:
    bot_id = newcomer(world)
    with world.database.write() as session:
        bots.get_bot(session, bot_id).max_concurrent_requests = 4
        assert len(check_claims.claim_due(session, 1)) == 1
    world.match([bot_id, world.bot()], rated=False)
    return bot_id, None, Reason("check_running")


@case
def friendly_share(world: World) -> tuple[str, str | None, Reason]:
    account_id, (bot_id, other) = world.account(), world.bots(2)
    first, second = (world.match([bot_id, other], rated=False, created_by=account_id) for _ in range(2))
    assert [claim.match_id for claim in world.claim(2, slots=Pool(4, slot_shares))] == [first]
    return bot_id, second, Reason("friendly_share")


@case
def friendlies_of_bot(world: World) -> tuple[str, str | None, Reason]:
    bot_id, other = world.bot(), world.bot(manifest=manifest_of("1", MANIFEST.games, 2))
    first, second = (world.match([bot_id, other], rated=False) for _ in range(2))
    assert [claim.match_id for claim in world.claim(2)] == [first]
    return bot_id, second, Reason("friendlies_of_bot", seat=1)


@case
def group_opening(world: World) -> tuple[str, str | None, Reason]:
    bot_id, other = world.bots(2)
    match_id = world.match([bot_id, other])
    world.claim()
    return bot_id, match_id, Reason("group_opening")


@case
def group_playing(world: World) -> tuple[str, str | None, Reason]:
    pair = world.bots(2)
    arranged(world, *[plan(pair, together="a")] * 2)
    claimed = world.claim(2)
    with world.database.write() as session:
        claims.release_claims(session, claimed[:1])
    return pair[0], claimed[0].match_id, Reason("group_playing")


@case
def tournament_paused(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, (bot_id, _) = begun(world, 2)
    with world.database.write() as session:
        lifecycle.pause(session, tournament_id)
    return bot_id, None, Reason("tournament_paused")


# -- of the bot --


@case
def not_verified(world: World) -> tuple[str, str | None, Reason]:
    return registered(world), None, Reason("not_verified")


@case
def handshake_failed(world: World) -> tuple[str, str | None, Reason]:
    bot_id = registered(world)
    with world.database.write() as session:
        (handshake,) = handshakes.claim_due_handshakes(session)
        handshake_results.finish_handshake(
            session, bot_id, handshake.epoch, {"ok": False, "challenge": {"ok": False}}, None
        )
    return bot_id, None, Reason("handshake_failed")


@case
def paused(world: World) -> tuple[str, str | None, Reason]:
    bot_id = world.bot()
    with world.database.write() as session:
        bots.pause(session, bot_id)
    return bot_id, None, Reason("paused")


@case
def unhealthy(world: World) -> tuple[str, str | None, Reason]:
    bot_id, match_id = world.bot(), world.match()
    with world.database.write() as session:
        for _ in range(bots.MAX_UNREACHABLE_STREAK):
            health.update_unreachable_streaks(session, match_id, unreachable=[bot_id], seated=[bot_id])
    return bot_id, None, Reason("unhealthy")


@case
def retired(world: World) -> tuple[str, str | None, Reason]:
    bot_id = world.bot()
    with world.database.write() as session:
        retirement.retire_bot(session, bot_id)
    return bot_id, None, Reason("retired")


@case
def not_entered(world: World) -> tuple[str, str | None, Reason]:
    return world.bot(), None, Reason("not_entered")


# -- of a tournament --


@case
def event_not_started(world: World) -> tuple[str, str | None, Reason]:
    _, (bot_id, _) = entered(world, 2)
    return bot_id, None, Reason("event_not_started")


@case
def start_missed(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, (bot_id,) = entered(world, 1, starts_at=world.clock.utc_now() + timedelta(minutes=1))
    world.clock.moment += timedelta(minutes=2)
    with world.database.write() as session:
        starting.start_if_due(session, tournament_id)
    return bot_id, None, Reason("start_missed")


@case
def preflight(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, (bot_id, _) = entered(world, 2)
    start(world, tournament_id)
    return bot_id, None, Reason("preflight")


@case
def absent(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, seated = entered(world, 3)
    begin(world, tournament_id, absent=seated[:1])
    return seated[0], None, Reason("absent")


@case
def no_certificate(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = resting(world)
    called(world, bot_id, "2.0")
    checked(world, {}, "2.0")
    return bot_id, None, Reason("no_certificate")


@case
def other_game(world: World) -> tuple[str, str | None, Reason]:
    bot_id, tournament_id = resting(world)
    with world.database.write() as session:
        bots.request_handshake(session, bot_id)
        (handshake,) = handshakes.claim_due_handshakes(session)
        handshake_results.finish_handshake(
            session, bot_id, handshake.epoch, {"ok": True}, manifest_of("1.0", ["pool-nap"], 8)
        )
    return bot_id, tournament_id, Reason("other_game")


@case
def other_version(world: World) -> tuple[str, str | None, Reason]:
    bot_id, tournament_id = resting(world, rated=False, frozen_version=True)
    called(world, bot_id, "2.0")
    return bot_id, tournament_id, Reason("other_version")


@case
def joins_later(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 3}, late_entry=True)
    late = world.bot()
    enter(world, tournament_id, late)
    answer_handshakes(world.database)
    go_on(world.database, tournament_id)
    return late, None, Reason("joins_later", tournament_round=2)


@case
def not_paired(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, (bot_id, _) = entered(world, 2)
    steps_until(world, tournament_id, "begun")
    return bot_id, tournament_id, Reason("not_paired")


@case
def table_to_come(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, (bot_id, _) = entered(world, 2)
    steps_until(world, tournament_id, "paired")
    return bot_id, tournament_id, Reason("table_to_come", tournament_round=1)


@case
def table_empty(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, _ = entered(world, 4, format="swiss")
    steps_until(world, tournament_id, "paired")
    with world.database.write() as session:
        left, bot_id = session.get_one(TournamentRound, (tournament_id, 1)).tables[0]["entrants"]
        entries.withdraw_bot(session, tournament_id, left)
    go_on(world.database, tournament_id)
    return bot_id, tournament_id, Reason("table_empty", tournament_round=1)


@case
def bye(world: World) -> tuple[str, str | None, Reason]:
    bot_id, tournament_id = resting(world)
    return bot_id, tournament_id, Reason("bye", tournament_round=1)


@case
def knocked_out(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, seated = begun(world, 4, format="knockout")
    for claim in world.claim(2):
        world.finish(claim)
    go_on(world.database, tournament_id)
    with world.database.read() as session:
        (final,) = session.get_one(TournamentRound, (tournament_id, 2)).tables
    loser = min(set(seated) - set(final["entrants"]))
    return loser, tournament_id, Reason("knocked_out")


@case
def round_not_over(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, bot_id, _ = half_played(world)
    return bot_id, tournament_id, Reason("round_not_over")


@case
def held_up(world: World) -> tuple[str, str | None, Reason]:
    tournament_id, bot_id, other = half_played(world)
    make_stuck(world, other)
    return bot_id, tournament_id, Reason("held_up")


@case
def no_rivals(world: World) -> tuple[str, str | None, Reason]:
    owner = world.account()
    tournament_id, seated = create(world, format="ladder"), [world.bot(owner), world.bot(owner)]
    enter(world, tournament_id, *seated)
    begin(world, tournament_id)
    return seated[0], None, Reason("no_rivals")


@case
def ladder_next(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_ladder(world)
    return bot_id, None, Reason("ladder_next")


@case
def ladder_ending(world: World) -> tuple[str, str | None, Reason]:
    bot_id, tournament_id = on_ladder(world)
    with world.database.write() as session:
        lifecycle.finish(session, tournament_id)
    return bot_id, None, Reason("ladder_ending")


# -- of an official ladder --


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
def official_asked(world: World) -> tuple[str, str | None, Reason]:
    bot_id, _ = on_official(world)
    with world.database.write() as session:
        session.get_one(LadderPlayer, bot_id).play = LadderPlay.ASKED
    return bot_id, None, Reason("official_asked")


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
