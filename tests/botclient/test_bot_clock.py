"""A call that the bot refuses for its time is signed once more, with the time in the bot's ``Date`` header."""

import re
from email.utils import formatdate

import pytest

from referee.botclient.framing import Response
from referee.botclient.reply import Reply
from tests.botclient.hostile import Hostile, Line, called, caller, response

OURS_S = 1_700_000_000
HOUR_S = 3600


def bot_at(moment_s: int | None, *, date: str | None = None) -> Hostile:
    """Return a bot that accepts signatures of the moment, give or take five minutes; without one, it refuses all."""
    date = formatdate(moment_s, usegmt=True) if date is None and moment_s is not None else date

    async def script(line: Line) -> None:
        while True:
            signed_at = timestamp(await line.request())
            fits = moment_s is not None and abs(signed_at - moment_s) <= 300
            await line.send(response(b"{}") if fits else response(b"{}", "401 Unauthorized", *dated(date)))

    return Hostile(script)


def dated(date: str | None) -> list[str]:
    return [] if date is None else [f"Date: {date}"]


def timestamp(request: bytes) -> int:
    found = re.search(rb"webhook-timestamp: ([0-9]+)", request)
    assert found
    return int(found[1])


async def ask(bot: Hostile, *, follow: bool = True, questions: int = 1) -> list[Reply]:
    async with bot:
        one = caller(bot.url, follow_bot_clock=follow)
        replies = [await called(one, 3000) for _ in range(questions)]
        one.close()
        await bot.settled()
    return replies


@pytest.mark.parametrize("ahead_s", [HOUR_S, -HOUR_S, 20 * 365 * 24 * HOUR_S])
async def test_K19_a_refused_call_and_all_later_ones_are_signed_with_the_time_of_the_bot(ahead_s: int) -> None:
    bot = bot_at(OURS_S + ahead_s)

    replies = await ask(bot, questions=3)

    assert [(reply.fault, reply.attempts) for reply in replies] == [("", 2), ("", 1), ("", 1)]
    assert [timestamp(request) for request in bot.requests] == [OURS_S, *[OURS_S + ahead_s] * 3]
    assert b"Referee-Attempt: 2" in bot.requests[1]
    assert bot.connections == 1


@pytest.mark.parametrize(
    ("date", "attempts"),
    [
        (None, 1),
        ("yesterday", 1),
        ("Thu, 99 Jan 99999 00:00:00 GMT", 1),
        (formatdate(OURS_S + 20, usegmt=True), 1),  # that is not why it refuses
        (formatdate(OURS_S + HOUR_S, usegmt=True), 2),
        ("Thu, 01 Jan 1925 00:00:00 GMT", 2),
    ],
)
async def test_K19_a_bot_that_refuses_every_time_is_at_fault_whatever_its_date(date: str | None, attempts: int) -> None:
    bot = bot_at(None, date=date)

    replies = await ask(bot, questions=2)

    assert [(reply.fault, reply.status, reply.attempts) for reply in replies] == [("bad_status", 401, attempts)] * 2
    assert timestamp(bot.requests[attempts]) == OURS_S  # the next question is signed with our time again


async def test_a_caller_that_keeps_to_our_clock_asks_once() -> None:
    (reply,) = await ask(bot_at(OURS_S + HOUR_S), follow=False)

    assert (reply.fault, reply.attempts) == ("bad_status", 1)


def test_only_a_bad_status_has_a_date() -> None:
    date = formatdate(OURS_S, usegmt=True)
    for status, noted in (("200 OK", ""), ("401 Unauthorized", date)):
        parsed = Response()
        parsed.feed(response(b"{}", status, f"Date: {date}"))
        assert parsed.date == noted
