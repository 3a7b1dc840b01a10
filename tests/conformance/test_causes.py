"""The first finding about a beginner's mistake names its cause, and no finding gives advice for another mistake."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from aiohttp import web

from referee.conformance.context import Pace
from referee.match.canonical import Json
from referee.protocol.fault_advice import SET_UP_SIGNING
from tests.botclient.habits import HABITS, MANIFEST, answering, selects_one_card
from tests.botclient.hostile import SECRET
from tests.botclient.odd import Habit, Odd, check_bot, is_correct

PACE = Pace()
BRIEF = Pace(budget_ms=60, bank_ms=20_000)
SAVE_SECRET = SET_UP_SIGNING[1:]  # the first letter is a capital where a sentence begins
OTHER_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


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
        answer = MANIFEST
    else:
        answer = {}
    return web.Response(text=str(answer or "{'proof': ''}"), content_type="application/json")


def thinks(seconds: float) -> Habit:
    async def habit(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        if request.path == "/decide":
            await asyncio.sleep(seconds)
        return None

    return habit


rejects_signatures = answering(lambda request, _: request.method == "POST", {"error": "wrong signature"}, 401)
rejects_questions = answering(lambda request, _: request.path == "/decide", {"error": "wrong signature"}, 401)
serves_decide_only = answering(lambda request, _: request.path == "/notify", {}, 404)


async def adds_a_slash(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.method == "GET":
        return None
    return web.Response(status=307, headers={"Location": f"{request.path}/"})


@dataclass(frozen=True)
class Mistake:
    """Describe a mistake: the first finding, a part of its advice, and further rules with this cause.

    ``at`` changes the URL of the bot, with a port at which nobody listens. ``killed`` ends the bot in the pause.
    """

    cause: str
    advice: str
    habit: Habit = is_correct
    first: str = "decision"
    same_cause: tuple[str, ...] = ()
    secret: str | None = SECRET
    pace: Pace = PACE
    at: Callable[[str, int], str] = lambda url, _unused: url
    killed: bool = False


UNREACHED, UNSIGNED = "no connection to your bot could be opened", "your bot answers 401 to signed calls"
GONE = "your bot accepts no more connections since POST /decide"
SLOW = "answer within `time.budget_ms`"
REFUSED, DOWN = ("nonce_promise", "nonce_kept", "decision"), ("stays_up",)

MISTAKES = {
    "wrong port": Mistake(
        UNREACHED,
        "that it listens on the registered port",
        first="reachable",
        at=lambda _url, unused: f"http://127.0.0.1:{unused}",
    ),
    "listens on one address only": Mistake(
        UNREACHED,
        "not on 127.0.0.1 only",
        first="reachable",
        at=lambda url, _unused: url.replace("127.0.0.1", "127.0.0.2"),
    ),
    "crash in the decision": Mistake(
        "your bot closed the connection at POST /decide without an answer", "crashed", crashes, same_cause=DOWN
    ),
    "exit in the decision": Mistake(GONE, "exited", exits, same_cause=DOWN),
    "exception in the decision": Mistake("your bot answers 500 at POST /decide", "500 that it crashed", raises),
    "wrong JSON": Mistake(
        *("POST /notify: the reply was not JSON", "with a JSON library", writes_python, "challenge"),
        same_cause=("manifest", *REFUSED),
    ),
    "illegal action": Mistake(
        "an action of your bot is not legal in saint-poker", "Choose from the `legal_actions`", selects_one_card
    ),
    "slow answers": Mistake("median answer ", SLOW, thinks(3 * BRIEF.budget_ms / 1000), "budget", pace=BRIEF),
    "too slow answers": Mistake(
        "median answer 70 ms against a budget of 60 ms", SLOW, thinks(0.3), pace=replace(BRIEF, bank_ms=10)
    ),
    "wrong secret": Mistake(UNSIGNED, SAVE_SECRET, rejects_signatures, "challenge", REFUSED),
    "another secret": Mistake(UNSIGNED, SAVE_SECRET, is_correct, "challenge", REFUSED, OTHER_SECRET),
    "signature of a parsed body": Mistake(UNSIGNED, "before you parse it", rejects_questions),
    "wrong proof": Mistake("", "so it has the right secret", HABITS["challenge"], "challenge"),
    "no /notify": Mistake(
        *("your bot answers 404 at POST /notify", "404 that it does not serve this path", serves_decide_only),
        *("challenge", ("nonce_promise", "nonce_kept", "unknown_members", "end_notices")),
    ),
    "slash at the end": Mistake(
        *("POST /notify redirects to '/notify/' (307)", "without a slash at the end", adds_a_slash),
        *("challenge", REFUSED),
    ),
    "killed in the middle": Mistake(GONE, "exited", is_correct, "idle", ("reconnect", "stays_up"), killed=True),
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
async def test_the_first_finding_names_the_cause_and_no_advice_is_wrong(name: str) -> None:
    mistake = MISTAKES[name]

    bot, held = Odd(mistake.habit), socket.socket()
    held.bind(("127.0.0.1", 0))  # it does not listen: connections are refused, and nobody else gets the port
    report = await check_bot(
        bot,
        secret=mistake.secret,
        pace=mistake.pace,
        pause=bot.close if mistake.killed else None,
        at=lambda url: mistake.at(url, held.getsockname()[1]),
        questions=12,
    )
    held.close()

    shown = [finding for finding in report.to_json()["findings"] if finding["severity"] != "ok"]
    first, *others = shown
    for advice, right in ONLY_FOR.items():
        assert name in right or not any(advice in finding["advice"] for finding in shown), (advice, shown)
    assert (first["id"], first["cause"][: len(mistake.cause)]) == (mistake.first, mistake.cause), shown
    assert bool(first["cause"]) == bool(mistake.cause)
    assert mistake.advice in first["advice"]
    assert tuple(first["same_cause"]) == mistake.same_cause
    assert others == []
