"""Robustness: repeated, out-of-order, oversized and concurrent questions, pauses, broken connections, stray calls."""

import asyncio
from collections.abc import Sequence

import orjson

from referee.botclient.client import Reply
from referee.conformance.calls import Call
from referee.conformance.context import ExaminationContext, describe_reply
from referee.conformance.positions import UNKNOWN_MEMBER, ProbeQuestion, add_unknown_members, fresh_id
from referee.match.canonical import Json
from referee.match.chance import commitment
from referee.protocol import messages

ROBUSTNESS_RULES = (
    *("resent", "resent_same", "stale", "unknown_members", "huge", "parallel"),
    *("unknown_notice", "end_notices", "keep_alive", "idle", "reconnect", "hung_up", "stray"),
)
HUGE_BYTES = 256 * 1024
MAX_RESENT = 3  # questions that are sent twice
MAX_WITH_UNKNOWN_MEMBERS = 5  # questions with unknown members


async def check_robustness(exam: ExaminationContext) -> None:
    """Check all of these rules, those that may crash the bot last."""
    await _send_twice(exam)
    await _send_out_of_order(exam)
    for question in _one_of_each_kind(exam)[:MAX_WITH_UNKNOWN_MEMBERS]:
        await exam.check_answer("unknown_members", question.with_unknown_members(exam.new_match_id()))
    await _send_oversized(exam)
    await _send_concurrently(exam)
    await _send_notices(exam)
    await _break_connections(exam)
    await _send_stray_calls(exam)
    often = exam.channel.closed * 2 > exam.channel.calls
    came = f"{exam.channel.closed} of {exam.channel.calls} calls ended the connection"
    exam.note("keep_alive", exam.decide_call(exam.answered[0]), "unreachable" if often else "", came)


# -- questions --


async def _send_twice(exam: ExaminationContext) -> None:
    """Repeat the questions with the most legal actions, where equal answers are unlikely to be a coincidence."""
    widest = sorted(exam.answered, key=lambda question: -len(question.legal_actions))[:MAX_RESENT]
    for question in (asked.with_match_id(exam.new_match_id()) for asked in widest):
        reply, first = await exam.ask_and_judge(question)
        second = await exam.check_answer("resent", question)
        if reply.ok and not first.fault and not second.fault:
            before, after = _selected_action(question, first), _selected_action(question, second)
            fault = "" if before == after else "another_answer"
            came = f"first {before}, then {after}"
            exam.note("resent_same", exam.decide_call(question), fault, came, where=question.where)


async def _send_out_of_order(exam: ExaminationContext) -> None:
    """Send two questions of one match, the later one first."""
    older, match_id = exam.answered[0], exam.new_match_id()
    newer = next((asked for asked in reversed(exam.answered) if asked.match_id == older.match_id), exam.answered[-1])
    await exam.ask_and_judge(newer.with_match_id(match_id))
    await exam.check_answer("stale", older.with_match_id(match_id))


async def _send_oversized(exam: ExaminationContext) -> None:
    largest = max(exam.answered, key=lambda question: len(question.body))
    observation = orjson.loads(largest.body)["observation"]
    word = "padding "
    padding = [word * 128] * (HUGE_BYTES // (128 * len(word)))
    await exam.check_answer(
        "huge", largest.with_match_id(exam.new_match_id(), observation=observation | {UNKNOWN_MEMBER: padding})
    )


async def _send_concurrently(exam: ExaminationContext) -> None:
    allowed = exam.channel.target.max_concurrent_requests
    number = min(allowed, exam.pace.max_concurrent)
    if number < 2:
        busy = "the bot is playing and has one free call" if allowed > 1 else "the manifest allows one call at a time"
        exam.notes.skip(["parallel"], busy)
        return
    questions = [
        exam.answered[place % len(exam.answered)].with_match_id(exam.new_match_id()) for place in range(number)
    ]
    done = await asyncio.gather(
        *(exam.check_answer("parallel", question, exam.decide_call(question)) for question in questions),
        return_exceptions=True,
    )
    for outcome in done:
        if isinstance(outcome, BaseException):
            raise outcome


def _one_of_each_kind(exam: ExaminationContext) -> Sequence[ProbeQuestion]:
    """Return one question of each kind, taking the games in turn."""
    found = {question.where: question for question in exam.answered}
    by_game: dict[str, list[ProbeQuestion]] = {}
    for question in found.values():
        by_game.setdefault(question.scenario.rules.name, []).append(question)
    turns = max(map(len, by_game.values()))
    return [kinds[turn] for turn in range(turns) for kinds in by_game.values() if turn < len(kinds)]


def _selected_action(question: ProbeQuestion, decision: messages.Decision) -> Json:
    return question.legal_actions[decision.choice] if decision.choice is not None else decision.action or {}


# -- notices --


async def _send_notices(exam: ExaminationContext) -> None:
    body = messages.encode_json(
        {"protocol": messages.PROTOCOL, "type": "weather_report", "sky": {"clouds": 3, "rain": None}}
    )
    call = exam.notify_call(body, fresh_id("msg", exam.rng))
    reply = await exam.channel.send(call, exam.pace.notice_ms)
    refused = 400 <= reply.status < 500  # a refusal is an answer too
    exam.note("unknown_notice", call, "" if refused else reply.fault, describe_reply(reply))
    group_id = fresh_id("grp", exam.rng)
    first = orjson.loads(messages.group_start_body(group_id, "0" * 64))
    call = exam.notify_call(messages.encode_json(add_unknown_members(first)), f"{group_id}_start_1")
    reply = await exam.channel.send(call, exam.pace.notice_ms)
    exam.note("unknown_members", call, reply.fault, describe_reply(reply), where="group_start")
    for where, body in _end_notices(exam):
        call = exam.notify_call(body, fresh_id("msg", exam.rng))
        reply = await exam.channel.send(call, exam.pace.notice_ms)
        fault = reply.fault if reply.status != 200 or _has_no_response(reply) else ""  # the body does not matter
        exam.note("end_notices", call, fault, describe_reply(reply), where=where)


def _end_notices(exam: ExaminationContext) -> list[tuple[str, bytes]]:
    question = exam.answered[0]
    facts: Json = orjson.loads(question.body)["match"]
    state = question.state
    result = {"scores": state.scores(), "returns": state.returns(), "placements": state.placements()}
    group_id, seed = fresh_id("grp", exam.rng), exam.rng.randbytes(32)
    head = exam.rng.randbytes(32).hex()
    opened = messages.group_end_body(
        group_id, commitment(seed, group_id), seed.hex(), [""] * facts["seat"] + [""], head
    )
    return [("match_end", messages.match_end_body(facts, result, [])), ("group_end", opened)]


def _has_no_response(reply: Reply) -> bool:
    return reply.fault in ("unreachable", "deadline", "bad_http")


# -- connections --


async def _break_connections(exam: ExaminationContext) -> None:
    questions = exam.answered
    exam.report_progress(exam.questions_sent, exam.questions_sent, "a pause")
    await exam.pace.sleep(exam.pace.idle_s)
    await exam.check_answer("idle", questions[0].with_match_id(exam.new_match_id()))
    exam.channel.main.close()
    await exam.check_answer("reconnect", questions[-1].with_match_id(exam.new_match_id()))
    # A deadline of 1 ms closes the connection while the bot is thinking. If the bot is faster, no harm is done.
    await exam.channel.send(exam.decide_call(questions[0].with_match_id(exam.new_match_id())), 1)
    await exam.check_answer("hung_up", questions[0].with_match_id(exam.new_match_id()))


async def _send_stray_calls(exam: ExaminationContext) -> None:
    """Send calls outside the protocol, and after each a question that shows whether the bot still answers."""
    calls = [
        Call("HEAD", "/", fresh_id("msg", exam.rng)),
        Call("GET", "/favicon.ico", fresh_id("msg", exam.rng), b"", exam.secrets),
        Call("POST", "/no-such-path", fresh_id("msg", exam.rng), b"{}", exam.secrets),
    ]
    for call in calls:
        if call.method == "HEAD":
            await exam.channel.head(exam.pace.budget_ms)
        else:
            await exam.channel.send(call, exam.pace.notice_ms)
        reply, decision = await exam.ask_and_judge(exam.answered[0].with_match_id(exam.new_match_id()))
        exam.note("stray", call, decision.fault, describe_reply(reply, decision), where=f"{call.method} {call.path}")
