"""Incorrect bots, each with the rule of the conformance suite that it breaks."""

import asyncio
from collections.abc import Callable

from aiohttp import web

from referee.match.canonical import Json
from tests.botclient.odd import Habit, Odd, is_signed, played, said

GAME = "saint-poker"
LATE_S = 1.1  # longer than a budget
HABITS: dict[str, Habit] = {}


async def is_trusted(bot: Odd, request: web.Request) -> bool:
    """Check a call as a correct bot does before it answers."""
    signed = is_signed(request, await request.read())
    return signed and abs(bot.now() - int(request.headers["webhook-timestamp"])) < 300


def breaks(rule: str) -> Callable[[Habit], Habit]:
    def noted(habit: Habit) -> Habit:
        HABITS[rule] = habit
        return habit

    return noted


def once_after_a_pause(bot: Odd, request: web.Request, nth: int) -> bool:
    """Return whether this is the ``nth`` question after the pause."""
    if request.path != "/decide" or "paused" not in bot.memory:
        return False
    bot.memory["since"] = bot.memory.get("since", 0) + 1
    return bool(bot.memory["since"] == nth)


@breaks("challenge")
async def proves_nothing(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"proof": "0" * 64}) if body.get("type") == "challenge" else None


@breaks("manifest")
async def speaks_another_protocol(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"protocol": "1", "name": "odd", "version": "1", "games": [GAME]}) if request.method == "GET" else None


@breaks("known_game")
async def plays_chess(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    manifest = {"protocol": "2", "name": "odd", "version": "1", "games": ["chess"]}
    return said(manifest) if request.method == "GET" else None


@breaks("same_version")
async def is_new_every_time(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    manifest = {"protocol": "2", "name": "odd", "version": str(bot.calls), "games": [GAME]}
    return said(manifest) if request.method == "GET" else None


@breaks("unknown_game")
async def plays_chess_too(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    manifest = {"protocol": "2", "name": "odd", "version": "1", "games": ["chess", GAME]}
    return said(manifest) if request.method == "GET" else None


@breaks("slow_start")
async def wakes_slowly(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if bot.calls == 1:
        await asyncio.sleep(LATE_S)
    return None


@breaks("nonce_promise")
async def promises_nonsense(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"nonce_hash": "none of your business"}) if body.get("step") == 1 else None


@breaks("nonce_kept")
async def breaks_its_promise(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"nonce": "another"}) if body.get("step") == 2 else None


@breaks("nonce_accepted")
async def accepts_no_nonces(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"accepted": False}) if body.get("step") == 3 else None


@breaks("nonce_missed")
async def accepts_any_nonces(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({"accepted": True}) if body.get("step") == 3 else None


@breaks("decision")
async def selects_one_card(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if body.get("observation", {}).get("phase") != "select":
        return None
    return said({"decision": body["decision"]["id"], "action": {"type": "select", "cards": ["Th"]}})


@breaks("no_error")
async def owns_up_to_a_crash(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path != "/decide" or not await is_trusted(bot, request):
        return None
    return said({"decision": body["decision"]["id"], "action": body["default_action"], "error": "KeyError: 'legall'"})


@breaks("budget")
async def ponders_once(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path == "/decide" and not bot.memory.setdefault("pondered", False):
        bot.memory["pondered"] = True
        await asyncio.sleep(LATE_S)
    return None


@breaks("resent")
async def answers_nothing_twice(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path != "/decide" or not await is_trusted(bot, request):
        return None
    known = bot.memory.setdefault("known", set())
    if body["decision"]["id"] in known:
        return said({"error": "asked before"}, 409)
    known.add(body["decision"]["id"])
    return None


@breaks("resent_same")
async def changes_its_mind(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path != "/decide" or not await is_trusted(bot, request):
        return None
    return played(body, bot.calls % len(body["legal_actions"]))


@breaks("stale")
async def keeps_the_newest_question(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path != "/decide" or not await is_trusted(bot, request):
        return None
    match, asked = body["match"]["id"], body["decision"]
    if match not in bot.memory or bot.memory[match]["question"] <= asked["question"]:
        bot.memory[match] = asked
        return None
    return said({"decision": bot.memory[match]["id"], "choice": 0})


@breaks("unknown_members")
async def knows_every_member(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    strange = "match" in body and "x_unknown" in body["match"]
    return said({"error": "what is x_unknown?"}, 500) if strange else None


@breaks("huge")
async def takes_small_bodies(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 413) if (request.content_length or 0) > 100_000 else None


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


@breaks("unknown_notice")
async def dislikes_the_weather(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 500) if body.get("type") == "weather_report" else None


@breaks("end_notices")
async def cannot_end(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 500) if body.get("type") == "match_end" else None


@breaks("keep_alive")
async def hangs_up(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.path != "/decide" or not await is_trusted(bot, request):
        return None
    answer = played(body)
    answer.force_close()
    return answer


@breaks("idle")
async def falls_asleep(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 503) if once_after_a_pause(bot, request, 1) else None


@breaks("reconnect")
async def wants_its_old_connection(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 503) if once_after_a_pause(bot, request, 2) else None


@breaks("hung_up")
async def takes_offence(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 503) if once_after_a_pause(bot, request, 4) else None


@breaks("stray")
async def stumbles_over_HEAD(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    if request.method == "HEAD":
        bot.memory["down"] = True
    return said({}, 503) if request.path == "/decide" and bot.memory.pop("down", False) else None


@breaks("rotation")
async def reads_one_signature(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return said({}, 401) if " " in request.headers.get("webhook-signature", "") else None


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
