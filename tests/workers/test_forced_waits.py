"""Times of forced moves: a seat without a choice seems to have been asked."""

from random import Random
from typing import get_args

import pytest

from referee.match.forced_moves import find_forced_moves
from referee.match.log import parse_row
from referee.match.match import Answer, Match
from referee.matches.logs.recording import MatchUpdate
from referee.settings import ForcedMoveWaits
from tests.match.playing import chance, header
from tests.workers.conftest import World
from workers import match_runner
from workers.forced_waits import ForcedWaits, ResponseTimes


def begun() -> Match:
    match = Match(header("prisoners", 4), chance(4))
    match.begin()
    return match


def test_D3_a_forced_move_takes_as_long_as_an_answer_of_its_seat() -> None:
    match, dice = begun(), Random(3)
    waits = ForcedWaits(match, ResponseTimes(), dice)
    for seat in range(4):
        waits.add_time(seat, 1000 * (seat + 1))
    drawn = 0
    while not match.over:
        (request,) = match.requests()
        rows = match.receive(Answer(request.seat, dice.choice(request.legal_actions)))
        delays = waits.draw_delays(rows)
        elapsed = 0
        for row in [] if match.over else rows:
            forced = dict(find_forced_moves(match.rules, row))
            for place in range(len(row["events"])):
                elapsed += 1000 * (forced[place] + 1) if place in forced else 0
                assert delays.get(row["row"], [0] * len(row["events"]))[place] == elapsed
            drawn += len(forced)
        assert all(any(times) for times in delays.values())
    assert drawn > 10


def test_D3_waits_come_from_the_answers_of_the_seat_then_of_others_and_never_for_a_retired_one() -> None:
    match, dice = begun(), Random(4)
    forced: list[int] = []
    asked: set[int] = set()
    while len(forced) != 1 or forced[0] not in asked:
        (request,) = match.requests()
        asked.add(request.seat)
        rows = match.receive(Answer(request.seat, dice.choice(request.legal_actions), ms=70))
        forced = [move.seat for row in rows for move in find_forced_moves(match.rules, row)]

    def wait(waits: ForcedWaits) -> float:
        return max((times[-1] for times in waits.draw_delays(rows).values()), default=0)

    fresh = ForcedWaits(begun(), ResponseTimes())
    assert wait(fresh) == 0  # nobody has answered yet
    fresh.add_time((forced[0] + 1) % 4, 500)
    assert wait(fresh) == 500
    fresh.add_time(forced[0], 90)
    assert wait(fresh) == 90
    # From the recorded answers, after another runner has taken over.
    assert wait(ForcedWaits(match, ResponseTimes())) == 70
    match.retired.add(forced[0])
    assert wait(ForcedWaits(match, ResponseTimes())) == 0


@pytest.mark.parametrize(
    ("setting", "rated", "waits"),
    [("rated", True, True), ("rated", False, False), ("all", False, True), ("none", True, False)],
)
async def test_D3_the_next_question_and_the_public_rows_wait(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    updates: list[MatchUpdate],
    setting: ForcedMoveWaits,
    rated: bool,
    waits: bool,
) -> None:
    assert setting in get_args(ForcedMoveWaits)
    pauses_s: list[float] = []

    async def pause(_: match_runner._MatchSession, seconds: float) -> None:
        pauses_s.append(seconds)

    monkeypatch.setattr(match_runner._MatchSession, "_pause", pause)
    async with world.houses("sound", "sound", "sound"):
        match_id = world.arrange("prisoners", world.bot_ids, rated=rated)
        await world.run(forced_move_waits=setting)

    assert world.verified(match_id).ok
    delays = [update.delays_ms for update in updates if update.delays_ms]
    assert bool(delays) is waits
    assert pauses_s == [max(map(max, each.values())) / 1000 for each in delays]
    if waits:
        rows = [parse_row(line) for update in updates for line in update.lines]
        delayed = {number for each in delays for number in each}
        match = begun()
        for row in rows:
            if list(find_forced_moves(match.rules, row)) and row["row"] > 20:  # everybody has answered by then
                assert row["row"] in delayed
