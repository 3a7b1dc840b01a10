"""Check robustness: repeated, oversized and concurrent questions, pauses, broken connections and stray calls."""

import asyncio
from collections.abc import Sequence

import orjson

from referee.conformance.calls import Call
from referee.conformance.context import CheckContext
from referee.conformance.positions import UNKNOWN_MEMBER, ProbeQuestion, add_unknown_members, fresh_id
from referee.match.canonical import Json
from referee.match.chance import commitment
from referee.match.signature import ChainHead
from referee.protocol import messages

ROBUSTNESS_RULES = (
    *("resent", "resent_same", "stale", "unknown_members", "huge", "parallel"),
    *("unknown_notice", "end_notices", "keep_alive", "idle", "reconnect", "hung_up", "stray"),
)
HUGE_BYTES = 256 * 1024
MAX_RESENT = 3  # questions that are sent twice
MAX_WITH_UNKNOWN_MEMBERS = 5  # questions with unknown members


async def check_robustness(check: CheckContext) -> None:
    """Check the rules about robustness. Those that may crash the bot come last."""
    await _send_twice(check)
    await _send_out_of_order(check)
    for question in _one_of_each_kind(check)[:MAX_WITH_UNKNOWN_MEMBERS]:
        await check.apply_rule("unknown_members", question.with_unknown_members(check.new_match_id()))
    await _send_oversized(check)
    await _send_concurrently(check)
    await _send_notices(check)
    await _break_connections(check)
    await _send_stray_calls(check)
    often = check.channel.closed * 2 > check.channel.calls
    came = f"{check.channel.closed} of {check.channel.calls} calls ended the connection"
    check.note("keep_alive", check.decide_call(check.answered[0]), "closed" if often else "", came)


# -- questions --


async def _send_twice(check: CheckContext) -> None:
    """Repeat the questions with the most legal actions, which a bot is least likely to answer alike by chance."""
    widest = sorted(check.answered, key=lambda question: -len(question.legal_actions))[:MAX_RESENT]
    for question in (asked.with_match_id(check.new_match_id()) for asked in widest):
        reply, first = await check.ask_and_judge(question)
        second = await check.apply_rule("resent", question)
        if reply.ok and not first.fault and not second.fault:
            before, after = _selected_action(question, first), _selected_action(question, second)
            fault = "" if before == after else "another_answer"
            came = f"first {before}, then {after}"
            check.note("resent_same", check.decide_call(question), fault, came, where=question.where)


async def _send_out_of_order(check: CheckContext) -> None:
    """Send two questions of one match, the later one first."""
    older, match_id = check.answered[0], check.new_match_id()
    newer = next((asked for asked in reversed(check.answered) if asked.match_id == older.match_id), check.answered[-1])
    await check.ask_and_judge(newer.with_match_id(match_id))
    await check.apply_rule("stale", older.with_match_id(match_id))


async def _send_oversized(check: CheckContext) -> None:
    largest = max(check.answered, key=lambda question: len(question.body))
    observation = orjson.loads(largest.body)["observation"]
    word = "padding "
    padding = [word * 128] * (HUGE_BYTES // (128 * len(word)))
    await check.apply_rule(
        "huge", largest.with_match_id(check.new_match_id(), observation=observation | {UNKNOWN_MEMBER: padding})
    )


async def _send_concurrently(check: CheckContext) -> None:
    allowed = check.channel.target.max_concurrent_requests
    number = min(allowed, check.pace.max_concurrent)
    if number < 2:
        busy = "the bot is playing and has one free call" if allowed > 1 else "the manifest allows one call at a time"
        check.notes.skip(["parallel"], busy)
        return
    questions = [
        check.answered[place % len(check.answered)].with_match_id(check.new_match_id()) for place in range(number)
    ]
    done = await asyncio.gather(
        *(check.apply_rule("parallel", question, check.decide_call(question)) for question in questions),
        return_exceptions=True,
    )
    for outcome in done:
        if isinstance(outcome, BaseException):
            raise outcome


def _one_of_each_kind(check: CheckContext) -> Sequence[ProbeQuestion]:
    """Return one question of each kind, taking the games in turn."""
    found = {question.where: question for question in check.answered}
    by_game: dict[str, list[ProbeQuestion]] = {}
    for question in found.values():
        by_game.setdefault(question.scenario.rules.name, []).append(question)
    turns = max(map(len, by_game.values()))
    return [kinds[turn] for turn in range(turns) for kinds in by_game.values() if turn < len(kinds)]


def _selected_action(question: ProbeQuestion, decision: messages.Decision) -> Json:
    return question.legal_actions[decision.choice] if decision.choice is not None else decision.action or {}


# -- notices --


async def _send_notices(check: CheckContext) -> None:
    body = messages.encode_json(
        {"protocol": messages.PROTOCOL, "type": "weather_report", "sky": {"clouds": 3, "rain": None}}
    )
    call = check.notify_call(body, fresh_id("msg", check.dice))
    reply = await check.send(call)
    refused = 400 <= reply.status < 500  # the bot may refuse an unknown notice
    check.note_reply("unknown_notice", call, reply._replace(fault="") if refused else reply)
    group_id = fresh_id("grp", check.dice)
    first = orjson.loads(messages.group_start_body(group_id, "0" * 64))
    call = check.notify_call(messages.encode_json(add_unknown_members(first)), f"{group_id}_start_1")
    check.note_reply("unknown_members", call, await check.send(call), where="group_start")
    for where, body in _end_notices(check):
        call = check.notify_call(body, fresh_id("msg", check.dice))
        reply = await check.send(call)
        broke_off = reply.fault in ("unreachable", "deadline", "bad_http")
        is_wrong = reply.status != 200 or broke_off  # the body does not matter
        check.note_reply("end_notices", call, reply if is_wrong else reply._replace(fault=""), where=where)


def _end_notices(check: CheckContext) -> list[tuple[str, bytes]]:
    question = check.answered[0]
    facts: Json = orjson.loads(question.body)["match"]
    state = question.state
    result = {"scores": state.scores(), "returns": state.returns(), "placements": state.placements()}
    group_id, seed = fresh_id("grp", check.dice), check.dice.randbytes(32)
    head = ChainHead(1, check.dice.randbytes(32).hex())
    opened = messages.group_end_body(
        group_id, commitment(seed, group_id), seed.hex(), [""] * facts["seat"] + [""], head
    )
    return [("match_end", messages.match_end_body(facts, result, [])), ("group_end", opened)]


# -- connections --


async def _break_connections(check: CheckContext) -> None:
    questions = check.answered
    check.report_progress("waiting, to test an idle connection")
    await check.pace.sleep(check.pace.idle_s)
    check.report_progress("robustness")
    await check.apply_rule("idle", questions[0].with_match_id(check.new_match_id()))
    check.channel.main.close()
    await check.apply_rule("reconnect", questions[-1].with_match_id(check.new_match_id()))
    # A deadline of 1 ms closes the connection while the bot is thinking. If the bot is faster, no harm is done.
    await check.channel.send(check.decide_call(questions[0].with_match_id(check.new_match_id())), 1)
    await check.apply_rule("hung_up", questions[0].with_match_id(check.new_match_id()))


async def _send_stray_calls(check: CheckContext) -> None:
    """Send calls outside the protocol, and after each a question that shows whether the bot still answers."""
    calls = [
        Call("HEAD", "/", fresh_id("msg", check.dice)),
        Call("GET", "/favicon.ico", fresh_id("msg", check.dice), b"", check.secrets),
        Call("POST", "/no-such-path", fresh_id("msg", check.dice), b"{}", check.secrets),
    ]
    for call in calls:
        await check.send(call)
        reply, decision = await check.ask_and_judge(check.answered[0].with_match_id(check.new_match_id()))
        where = f"{call.method} {call.path}"
        check.note_reply("stray", call, reply, decision, where=where, request="POST /decide")
