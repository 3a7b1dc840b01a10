"""The loop that drives a match: when seats are asked, when rows are recorded, and what a failure does."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from referee.botclient.client import BotSeat, CallLimits
from referee.botclient.match_driver import drive
from referee.match.canonical import Json
from referee.match.chance import CommittedChance
from referee.match.match import Answer, Match, Request, new_header
from tests.botclient.hostile import PATIENCE_S, Hostile, Line, after_request, caller, response, says

GROUP = {"id": "grp_1", "commitment": "0" * 64, "entries": ["bot_0", "bot_1", "bot_2"]}


def begun(seats: int = 3, game: str = "saint-poker", **options: Any) -> Match:
    players = [{"bot": f"bot_{seat}", "name": f"n{seat}", "version": "1"} for seat in range(seats)]
    header = new_header(match_id="mat_1", game_name=game, options=options, players=players, group=GROUP)
    match = Match(header, CommittedChance(bytes(32), "grp_1", ["", "", ""]))
    match.begin()
    return match


async def default(request: Request) -> Answer:
    return Answer(request.seat, request.default_action)


async def unrecorded(match: Match, rows: list[Json], answer: Answer) -> None:
    pass


def driven(
    match: Match,
    ask: Callable[[Request], Awaitable[Answer]] = default,
    record: Callable[[Match, list[Json], Answer], Awaitable[None]] = unrecorded,
) -> None:
    asyncio.run(asyncio.wait_for(drive(match, ask, record), PATIENCE_S))


def test_a_match_whose_seats_decide_one_at_a_time_is_played_to_its_end() -> None:
    match = begun(game="pool-nap")

    driven(match)

    assert match.over
    assert match.log.rows[-1]["type"] == "result"


def test_all_seats_of_a_question_are_asked_before_any_has_answered() -> None:
    match = begun()
    together = len(match.requests())
    asked: list[int] = []
    all_asked = asyncio.Event()

    async def waits_for_the_others(request: Request) -> Answer:
        if request.n == 0:
            asked.append(request.seat)
            if len(asked) == together:
                all_asked.set()
            await all_asked.wait()
        return await default(request)

    driven(match, waits_for_the_others)

    assert together == 3
    assert sorted(asked) == [0, 1, 2]


def test_all_answers_to_a_question_are_recorded_before_the_next_is_asked() -> None:
    match = begun()
    steps: list[str] = []
    rows_recorded: list[Json] = []

    async def asks(request: Request) -> Answer:
        steps.append(f"ask {request.n}")
        return await default(request)

    async def records(of: Match, rows: list[Json], answer: Answer) -> None:
        assert of is match
        steps.append("record begins")
        await asyncio.sleep(0)
        rows_recorded.extend(rows)
        steps.append("record ends")

    driven(match, asks, records)

    first_of_next = steps.index("ask 1") if "ask 1" in steps else next(i for i, s in enumerate(steps) if s == "ask 3")
    assert steps[:first_of_next].count("record ends") == 3
    assert rows_recorded == match.log.rows[len(match.log.rows) - len(rows_recorded) :]
    assert rows_recorded[-1]["type"] == "result"


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_the_order_of_arrival_leaves_no_trace(order: Sequence[int]) -> None:
    usual, other = begun(), begun()
    driven(usual)

    async def in_this_order(request: Request) -> Answer:
        for _ in range(order.index(request.seat) * 3):
            await asyncio.sleep(0)
        return await default(request)

    driven(other, in_this_order)

    assert other.lines == usual.lines


def test_a_record_that_fails_ends_the_match_with_no_call_left_open() -> None:
    match, cancelled = begun(), []

    async def slow_but_one(request: Request) -> Answer:
        if request.seat == 0:
            return await default(request)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(request.seat)
            raise
        return await default(request)

    async def fails(match: Match, rows: list[Json], answer: Answer) -> None:
        raise LookupError("another runner has the match")

    with pytest.raises(LookupError):
        driven(match, slow_but_one, fails)

    assert sorted(cancelled) == [1, 2]


def test_a_match_resumed_in_the_middle_asks_only_who_has_not_answered() -> None:
    match = begun()
    match.receive(Answer(1, match.requests()[1].default_action))
    asked: list[tuple[int, int]] = []

    async def notes(request: Request) -> Answer:
        asked.append((request.n, request.seat))
        return await default(request)

    driven(match, notes)

    assert sorted(seat for n, seat in asked if n == 0) == [0, 2]


async def test_K21_a_silent_bot_is_called_three_times_and_holds_up_nobody_else() -> None:
    match = begun(2)
    # Small budgets, so that three missed deadlines do not take long.
    match.banks.limits = type(match.banks.limits)(budget_ms=150, bank_ms=0)
    match.banks.bank_ms = [0, 0]
    async with Hostile(after_request(Line.silence)) as silent, Hostile(picks_first) as good:
        limits = CallLimits()
        seats = [
            BotSeat(caller(bot.url, limits=limits), match.header, place) for place, bot in enumerate((silent, good))
        ]
        async with asyncio.timeout(PATIENCE_S * 3):
            await drive(match, lambda request: seats[request.seat].ask(request), unrecorded)
        for seat in seats:
            seat.close()

        assert len(silent.requests) == 3
        assert good.connections == 1
    assert match.faults == [3, 0]
    assert {row["fault"] for row in match.log.rows if "fault" in row} == {"deadline"}


async def picks_first(line: Line) -> None:
    import json

    while True:
        request = await line.request()
        asked = json.loads(request.partition(b"\r\n\r\n")[2])
        await line.send(response(json.dumps({"decision": asked["decision"]["id"], "choice": 0}).encode()))


async def test_C6_what_is_not_legal_is_a_fault_of_the_match() -> None:
    match = begun(2)
    request = match.requests()[0]
    id = f"mat_1_s{request.seat}_q{request.question}".encode()
    found = []
    for action in (b'{"type":"fly"}', b'{"type":1}', b"{}", b'{"type":"river","card":"Xx"}', b'{"amount":-1}'):
        async with Hostile(says(response(b'{"decision":"' + id + b'","action":' + action + b"}"))) as bot:
            seat = BotSeat(caller(bot.url), match.header, request.seat)
            answer = await seat.ask(request)
            assert answer.trouble == ""
            twin = begun(2)
            twin.receive(answer)
            found.append(twin.faults[request.seat])
            seat.close()

    assert found == [1] * 5
