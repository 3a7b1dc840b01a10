"""Incorrect bots, each with the rule of the conformance suite that it breaks."""

import asyncio
from collections.abc import Callable

from aiohttp import web

from referee.match.canonical import Json
from tests.botclient.odd import GAME, Habit, Odd, is_signed, played, said

LATE_S = 1.1  # longer than a budget
MANIFEST = {"protocol": "2", "name": "odd", "version": "1", "games": [GAME]}
HABITS: dict[str, Habit] = {}


async def is_trusted(bot: Odd, request: web.Request) -> bool:
    """Return whether a correct bot would answer this question."""
    if request.path != "/decide" or not is_signed(request, await request.read()):
        return False
    return abs(bot.now() - int(request.headers["webhook-timestamp"])) < 300


def breaks(rule: str) -> Callable[[Habit], Habit]:
    def noted(habit: Habit) -> Habit:
        HABITS[rule] = habit
        return habit

    return noted


def answering(when: Callable[[web.Request, Json], object], answer: Json, status: int = 200) -> Habit:
    """Return the habit of giving this answer to some calls."""

    async def habit(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        return said(answer, status) if when(request, body) else None

    return habit


def answers(rule: str, when: Callable[[web.Request, Json], object], answer: Json, status: int = 200) -> None:
    """Let a bot break the rule by giving this answer to some calls."""
    HABITS[rule] = answering(when, answer, status)


def breaks_when_trusted(rule: str) -> Callable[[Habit], Habit]:
    """Note a habit in questions that a correct bot would answer."""

    def noted(habit: Habit) -> Habit:
        @breaks(rule)
        async def cautious(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
            return await habit(bot, request, body) if await is_trusted(bot, request) else None

        return cautious

    return noted


def fails_after_a_pause(rule: str, nth: int) -> None:
    """Let a bot fail to answer the ``nth`` question after the pause."""

    @breaks(rule)
    async def habit(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
        if request.path != "/decide" or "paused" not in bot.memory:
            return None
        bot.memory["since"] = bot.memory.get("since", 0) + 1
        return said({}, 503) if bot.memory["since"] == nth else None


def is_manifest(request: web.Request, _: Json) -> bool:
    return request.method == "GET" and request.path == "/"


answers("challenge", lambda _, body: body.get("type") == "challenge", {"proof": "0" * 64})
answers("manifest", is_manifest, MANIFEST | {"protocol": "1"})
answers("known_game", is_manifest, MANIFEST | {"games": ["chess"]})
answers("unknown_game", is_manifest, MANIFEST | {"games": ["chess", GAME]})
answers("nonce_promise", lambda _, body: body.get("step") == 1, {"nonce_hash": "none of your business"})
answers("nonce_kept", lambda _, body: body.get("step") == 2, {"nonce": "another"})
answers("nonce_accepted", lambda _, body: body.get("step") == 3, {"accepted": False})
answers("nonce_missed", lambda _, body: body.get("step") == 3, {"accepted": True})
answers("unknown_members", lambda _, body: "x_unknown" in body.get("match", {}), {"error": "what is x_unknown?"}, 500)
answers("huge", lambda request, _: (request.content_length or 0) > 100_000, {}, 413)
answers("unknown_notice", lambda _, body: body.get("type") == "weather_report", {}, 500)
answers("end_notices", lambda _, body: body.get("type") == "match_end", {}, 500)
answers("rotation", lambda request, _: " " in request.headers.get("webhook-signature", ""), {}, 401)
fails_after_a_pause("idle", 1)
fails_after_a_pause("reconnect", 2)
fails_after_a_pause("hung_up", 4)


@breaks("same_version")
async def is_new_every_time(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said(MANIFEST | {"version": str(bot.calls)}) if is_manifest(request, body) else None


@breaks("slow_start")
async def wakes_slowly(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if bot.calls == 1:
        await asyncio.sleep(LATE_S)
    return None


@breaks("decision")
async def selects_one_card(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if body.get("observation", {}).get("phase") != "select":
        return None
    return said({"decision": body["decision"]["id"], "action": {"type": "select", "cards": ["Th"]}})


@breaks_when_trusted("no_error")
async def owns_up_to_a_crash(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"decision": body["decision"]["id"], "action": body["default_action"], "error": "KeyError: 'legall'"})


@breaks("budget")
async def ponders_once(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path == "/decide" and not bot.memory.setdefault("pondered", False):
        bot.memory["pondered"] = True
        await asyncio.sleep(LATE_S)
    return None


@breaks_when_trusted("resent")
async def answers_nothing_twice(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    known = bot.memory.setdefault("known", set())
    if body["decision"]["id"] in known:
        return said({"error": "asked before"}, 409)
    known.add(body["decision"]["id"])
    return None


@breaks_when_trusted("resent_same")
async def changes_its_mind(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return played(body, bot.calls % len(body["legal_actions"]))


@breaks_when_trusted("stale")
async def keeps_the_newest_question(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    match, asked = body["match"]["id"], body["decision"]
    if match not in bot.memory or bot.memory[match]["question"] <= asked["question"]:
        bot.memory[match] = asked
        return None
    return said({"decision": bot.memory[match]["id"], "choice": 0})


@breaks("parallel")
async def does_one_thing_at_a_time(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if "paused" in bot.memory:
        return None
    if bot.memory.get("busy"):
        return said({"error": "busy"}, 503)
    bot.memory["busy"] = True
    try:
        await asyncio.sleep(0.02)
    finally:
        bot.memory["busy"] = False
    return None


@breaks_when_trusted("keep_alive")
async def hangs_up(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    answer = played(body)
    answer.force_close()
    return answer


@breaks("stray")
async def stumbles_over_HEAD(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.method == "HEAD":
        bot.memory["down"] = True
    return said({}, 503) if request.path == "/decide" and bot.memory.pop("down", False) else None


@breaks("signature_wrong")
async def believes_any_signature(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    signature, sent = (request.headers.get(f"webhook-{part}", "") for part in ("signature", "timestamp"))
    return played(body) if request.path == "/decide" and signature and bot.now() - int(sent) < 300 else None


@breaks("signature_old")
async def looks_at_no_clock(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return played(body) if request.path == "/decide" and is_signed(request, await request.read()) else None


@breaks("signature_missing")
async def believes_the_unsigned(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return played(body) if request.path == "/decide" and "webhook-signature" not in request.headers else None
