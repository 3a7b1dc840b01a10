"""Robustness: repeated, out-of-order, oversized and concurrent questions, pauses, broken connections, stray calls."""

import asyncio
from collections.abc import Sequence

import orjson

from referee.conformance.calls import Call
from referee.conformance.context import ExaminationContext, describe_reply
from referee.conformance.positions import ADDED, ProbeQuestion, fresh_id, with_added
from referee.match.canonical import Json
from referee.match.chance import commitment
from referee.protocol import messages

ROBUSTNESS_RULES = (
    *("resent", "resent_same", "stale", "unknown_members", "huge", "parallel"),
    *("unknown_notice", "end_notices", "keep_alive", "idle", "reconnect", "hung_up", "stray"),
)
HUGE_BYTES = 256 * 1024
RESENT = 3  # questions that are sent twice
CROWDED = 5  # questions with unknown members


async def check_robustness(exam: ExaminationContext) -> None:
    """Check all of these rules, those that may crash the bot last."""
    await _resent(exam)
    await _stale(exam)
    for question in _one_a_kind(exam)[:CROWDED]:
        await exam.check_answer("unknown_members", question.with_unknown_members(exam.fresh()))
    await _huge(exam)
    await _parallel(exam)
    await _notices(exam)
    await _connections(exam)
    await _stray(exam)
    often = exam.line.closed * 2 > exam.line.calls
    came = f"{exam.line.closed} of {exam.line.calls} calls ended the connection"
    exam.note("keep_alive", exam.to_decide(exam.answered[0]), "unreachable" if often else "", came)


# -- questions --


async def _resent(exam: ExaminationContext) -> None:
    """Repeat the questions with the most legal actions, where equal answers are unlikely to be a coincidence."""
    widest = sorted(exam.answered, key=lambda question: -len(question.legal_actions))[:RESENT]
    for question in (asked.with_match_id(exam.fresh()) for asked in widest):
        reply, first = await exam.ask_and_judge(question)
        second = await exam.check_answer("resent", question)
        if reply.ok and not first.fault and not second.fault:
            before, after = _selected_action(question, first), _selected_action(question, second)
            fault = "" if before == after else "another_answer"
            came = f"first {before}, then {after}"
            exam.note("resent_same", exam.to_decide(question), fault, came, where=question.where)


async def _stale(exam: ExaminationContext) -> None:
    """Send two questions of one match, the later one first."""
    older, match_id = exam.answered[0], exam.fresh()
    newer = next((asked for asked in reversed(exam.answered) if asked.match_id == older.match_id), exam.answered[-1])
    await exam.ask_and_judge(newer.with_match_id(match_id))
    await exam.check_answer("stale", older.with_match_id(match_id))


async def _huge(exam: ExaminationContext) -> None:
    largest = max(exam.answered, key=lambda question: len(question.body))
    observation = orjson.loads(largest.body)["observation"]
    word = "padding "
    padding = [word * 128] * (HUGE_BYTES // (128 * len(word)))
    await exam.check_answer("huge", largest.with_match_id(exam.fresh(), observation=observation | {ADDED: padding}))


async def _parallel(exam: ExaminationContext) -> None:
    allowed = exam.line.target.max_concurrent_requests
    number = min(allowed, exam.pace.at_once)
    if number < 2:
        busy = "the bot is playing and has one free call" if allowed > 1 else "the manifest allows one call at a time"
        exam.notes.skip(["parallel"], busy)
        return
    questions = [exam.answered[place % len(exam.answered)].with_match_id(exam.fresh()) for place in range(number)]
    done = await asyncio.gather(
        *(exam.check_answer("parallel", question, exam.to_decide(question)) for question in questions),
        return_exceptions=True,
    )
    for outcome in done:
        if isinstance(outcome, BaseException):
            raise outcome


def _one_a_kind(exam: ExaminationContext) -> Sequence[ProbeQuestion]:
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


async def _notices(exam: ExaminationContext) -> None:
    body = messages.encode_json(
        {"protocol": messages.PROTOCOL, "type": "weather_report", "sky": {"clouds": 3, "rain": None}}
    )
    call = exam.to_notify(body, fresh_id("msg", exam.dice))
    reply = await exam.send(call)
    refused = 400 <= reply.status < 500  # a refusal is an answer too
    exam.note("unknown_notice", call, "" if refused else reply.fault, describe_reply(reply))
    group_id = fresh_id("grp", exam.dice)
    first = orjson.loads(messages.group_start_body(group_id, "0" * 64))
    call = exam.to_notify(messages.encode_json(with_added(first)), f"{group_id}_start_1")
    exam.note_reply("unknown_members", call, await exam.send(call), where="group_start")
    for where, body in _ends(exam):
        call = exam.to_notify(body, fresh_id("msg", exam.dice))
        reply = await exam.send(call)
        broke_off = reply.fault in ("unreachable", "deadline", "bad_http")
        fault = reply.fault if reply.status != 200 or broke_off else ""  # the body does not matter
        exam.note("end_notices", call, fault, describe_reply(reply), where=where)


def _ends(exam: ExaminationContext) -> list[tuple[str, bytes]]:
    question = exam.answered[0]
    facts: Json = orjson.loads(question.body)["match"]
    state = question.state
    result = {"scores": state.scores(), "returns": state.returns(), "placements": state.placements()}
    group_id, seed = fresh_id("grp", exam.dice), exam.dice.randbytes(32)
    head = exam.dice.randbytes(32).hex()
    opened = messages.group_end_body(
        group_id, commitment(seed, group_id), seed.hex(), [""] * facts["seat"] + [""], head
    )
    return [("match_end", messages.match_end_body(facts, result, [])), ("group_end", opened)]


# -- connections --


async def _connections(exam: ExaminationContext) -> None:
    questions = exam.answered
    exam.tell(exam.asked, exam.asked, "a pause")
    await exam.pace.sleep(exam.pace.idle_s)
    await exam.check_answer("idle", questions[0].with_match_id(exam.fresh()))
    exam.line.main.close()
    await exam.check_answer("reconnect", questions[-1].with_match_id(exam.fresh()))
    # A deadline of 1 ms closes the connection while the bot is thinking. If the bot is faster, no harm is done.
    await exam.line.send(exam.to_decide(questions[0].with_match_id(exam.fresh())), 1)
    await exam.check_answer("hung_up", questions[0].with_match_id(exam.fresh()))


async def _stray(exam: ExaminationContext) -> None:
    """Send calls outside the protocol, and after each a question that shows whether the bot still answers."""
    calls = [
        Call("HEAD", "/", fresh_id("msg", exam.dice)),
        Call("GET", "/favicon.ico", fresh_id("msg", exam.dice), b"", exam.secrets),
        Call("POST", "/no-such-path", fresh_id("msg", exam.dice), b"{}", exam.secrets),
    ]
    for call in calls:
        if call.method == "HEAD":
            await exam.line.head(exam.pace.budget_ms)
        else:
            await exam.send(call)
        reply, decision = await exam.ask_and_judge(exam.answered[0].with_match_id(exam.fresh()))
        exam.note("stray", call, decision.fault, describe_reply(reply, decision), where=f"{call.method} {call.path}")
