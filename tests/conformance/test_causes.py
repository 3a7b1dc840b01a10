"""The first finding about a beginner's mistake names its cause, and no finding gives advice for another mistake."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

import pytest
from aiohttp import web

from referee.botclient.client import CallLimits, CallTarget
from referee.conformance.context import Pace
from referee.conformance.report import ConformanceReport
from referee.conformance.suite import run_check
from referee.match.canonical import Json
from referee.protocol.fault_advice import SET_UP_SIGNING
from tests.botclient.habits import GAME, HABITS
from tests.botclient.hostile import LOOPBACK, PATIENCE_S, SECRET
from tests.botclient.odd import Habit, Odd, played, said

PACE = Pace()
BRIEF = Pace(budget_ms=60, bank_ms=20_000)
SAVE_SECRET = SET_UP_SIGNING[1:]  # the first letter is a capital where a sentence begins
OTHER_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


async def is_correct(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return None


async def crashes(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path == "/decide":
        assert request.transport is not None
        request.transport.abort()
    return None


async def exits(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path == "/decide":
        assert request.transport is not None
        request.transport.abort()
        bot.memory["closing"] = asyncio.create_task(bot.close())
    return None


async def raises(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return web.Response(status=500, text="KeyError: 'legall'") if request.path == "/decide" else None


async def writes_python(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path == "/decide":
        answer = {"decision": body["decision"]["id"], "choice": 0}
    elif request.method == "GET":
        answer = {"protocol": "2", "name": "odd", "version": "1", "games": [GAME]}
    else:
        answer = {}
    return web.Response(text=str(answer or "{'proof': ''}"), content_type="application/json")


async def plays_what_it_likes(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path != "/decide" or body["observation"]["phase"] != "select":
        return None
    return said({"decision": body["decision"]["id"], "action": {"type": "select", "cards": ["Th"]}})


async def thinks_long(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path == "/decide":
        await asyncio.sleep(3 * BRIEF.budget_ms / 1000)
    return None


async def thinks_too_long(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path == "/decide":
        await asyncio.sleep(0.3)
    return None


async def rejects_signatures(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"error": "wrong signature"}, 401) if request.method == "POST" else None


async def rejects_questions(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"error": "wrong signature"}, 401) if request.path == "/decide" else None


async def serves_decide_only(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 404) if request.path == "/notify" else None


async def adds_a_slash(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.method == "GET":
        return None
    return web.Response(status=307, headers={"Location": f"{request.path}/"})


async def answers_unsigned_too(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return played(body) if request.path == "/decide" else None


@dataclass(frozen=True)
class Mistake:
    """Describe a mistake: the first finding, a part of its advice, further rules with this cause, and other findings.

    ``at`` changes the URL of the bot, with a port at which nobody listens. ``killed`` ends the bot in the pause.
    """

    cause: str
    advice: str
    habit: Habit = is_correct
    first: str = "decision"
    same_cause: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    secret: str | None = SECRET
    pace: Pace = PACE
    at: Callable[[str, int], str] = lambda url, _unused: url
    killed: bool = False


MISTAKES = {
    "wrong port": Mistake(
        "no connection to your bot could be opened",
        "that it listens on the registered port",
        first="reachable",
        at=lambda _url, unused: f"http://127.0.0.1:{unused}",
    ),
    "listens on one address only": Mistake(
        "no connection to your bot could be opened",
        "not on 127.0.0.1 only",
        first="reachable",
        at=lambda url, _unused: url.replace("127.0.0.1", "127.0.0.2"),
    ),
    "crash in the decision": Mistake(
        "your bot closed the connection at POST /decide without an answer",
        "crashed",
        crashes,
        same_cause=("stays_up",),
    ),
    "exit in the decision": Mistake(
        "your bot accepts no more connections since POST /decide", "exited", exits, same_cause=("stays_up",)
    ),
    "exception in the decision": Mistake("your bot answers 500 at POST /decide", "500 that it crashed", raises),
    "wrong JSON": Mistake(
        "POST /notify: the reply was not JSON",
        "with a JSON library",
        writes_python,
        first="challenge",
        same_cause=("manifest", "nonce_promise", "nonce_kept", "decision"),
    ),
    "illegal action": Mistake(
        "an action of your bot is not legal in saint-poker",
        "Choose from the `legal_actions`",
        plays_what_it_likes,
    ),
    "slow answers": Mistake(
        "median answer ",
        "answer within `time.budget_ms`",
        thinks_long,
        first="budget",
        pace=BRIEF,
    ),
    "too slow answers": Mistake(
        "median answer 70 ms against a budget of 60 ms",
        "answer within `time.budget_ms`",
        thinks_too_long,
        pace=replace(BRIEF, bank_ms=10),
    ),
    "wrong secret": Mistake(
        "your bot answers 401 to signed calls",
        SAVE_SECRET,
        rejects_signatures,
        first="challenge",
        same_cause=("nonce_promise", "nonce_kept", "decision"),
    ),
    "another secret": Mistake(
        "your bot answers 401 to signed calls",
        SAVE_SECRET,
        first="challenge",
        same_cause=("nonce_promise", "nonce_kept", "decision"),
        secret=OTHER_SECRET,
    ),
    "signature of a parsed body": Mistake(
        "your bot answers 401 to signed calls", "before you parse it", rejects_questions
    ),
    "wrong proof": Mistake(
        "",
        "so it has the right secret",
        HABITS["challenge"],
        first="challenge",
    ),
    "no /notify": Mistake(
        "your bot answers 404 at POST /notify",
        "404 that it does not serve this path",
        serves_decide_only,
        first="challenge",
        same_cause=("nonce_promise", "nonce_kept", "unknown_members", "end_notices"),
    ),
    "slash at the end": Mistake(
        "POST /notify redirects to '/notify/' (307)",
        "without a slash at the end",
        adds_a_slash,
        first="challenge",
        same_cause=("nonce_promise", "nonce_kept", "decision"),
    ),
    "killed in the middle": Mistake(
        "your bot accepts no more connections since POST /decide",
        "exited",
        first="idle",
        same_cause=("reconnect", "stays_up"),
        killed=True,
    ),
}

ONLY_FOR = {  # advice -> mistakes for which it is right
    SAVE_SECRET: {"wrong secret", "another secret"},
    "Give the bot its secret": set[str](),
    "Choose from": {"illegal action"},
    "Return the SHA-256": set[str](),
    "Derive the nonce": set[str](),
    "Read the members": set[str](),
    "404 or 405": set[str](),
    "does not serve this path": {"exception in the decision", "no /notify"},
    "`time.budget_ms`": {"slow answers", "too slow answers"},
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_first_finding_names_the_cause_and_no_advice_is_wrong(name: str) -> None:
    mistake = MISTAKES[name]

    report = asyncio.run(check_bot(mistake))

    shown = [finding for finding in report.to_json()["findings"] if finding["severity"] != "ok"]
    first, *others = shown
    for advice, right in ONLY_FOR.items():
        assert name in right or not any(advice in finding["advice"] for finding in shown), (advice, shown)
    assert (first["id"], first["cause"][: len(mistake.cause)]) == (mistake.first, mistake.cause), shown
    assert bool(first["cause"]) == bool(mistake.cause)
    assert mistake.advice in first["advice"]
    assert tuple(first["same_cause"]) == mistake.same_cause
    assert tuple(finding["id"] for finding in others) == mistake.others, others


async def check_bot(mistake: Mistake) -> ConformanceReport:
    bot = await Odd(mistake.habit).start("127.0.0.1", 0)

    async def pause(_seconds: float) -> None:
        if mistake.killed:
            await bot.close()

    held = socket.socket()
    held.bind(("127.0.0.1", 0))  # it does not listen: connections are refused, and nobody else gets the port
    url = mistake.at(bot.url, held.getsockname()[1])
    target = CallTarget("bot_test", url, (mistake.secret,) if mistake.secret else ())
    try:
        async with asyncio.timeout(PATIENCE_S * 3):
            return await run_check(
                *(target, LOOPBACK, CallLimits()),
                games=(GAME,),
                questions=12,
                dice=Random("causes"),
                pace=replace(mistake.pace, sleep=pause),
            )
    finally:
        held.close()
        await bot.close()
