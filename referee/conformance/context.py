"""Share the state of a check between its phases: send questions, judge the answers, and note findings."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random

from referee.botclient.reply import Reply
from referee.conformance import causes
from referee.conformance.calls import Call, CallChannel
from referee.conformance.positions import ProbeQuestion, fresh_id
from referee.conformance.report import FindingCollector, percentiles
from referee.match.canonical import Json
from referee.match.time_limits import Limits
from referee.protocol import messages
from referee.protocol.fault_advice import FaultAdvice

MIN_TIMED = 3  # answers before a bot counts as slow


@dataclass(frozen=True, slots=True)
class Pace:
    """Limit the time of a check. As in a match, a question has a budget and a time bank."""

    budget_ms: int = 1_000
    bank_ms: int = 4_000
    notice_ms: int = 5_000  # for the manifest and for notices
    idle_s: float = 2.0  # the pause before a question
    max_concurrent: int = 8  # largest number of concurrent calls, even if the manifest allows more
    question_time_s: float = math.inf  # for questions from positions; afterwards each game gets only the minimum
    slow_question_time_s: float = 25.0  # the same for a bot that usually exceeds the budget
    time_limit_s: float | None = None  # for the whole check
    scenarios: int = 30  # largest number of matches per game from which positions are taken
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], float] = time.time

    @property
    def limits(self) -> Limits:
        return Limits(self.budget_ms, self.bank_ms)

    @property
    def deadline_ms(self) -> int:
        return self.budget_ms + self.bank_ms


# Arguments: questions asked, questions planned, current step, and the median of the answers in ms or None.
ReportProgress = Callable[[int, int, str, float | None], None]


@dataclass(slots=True)
class CheckContext:
    """Hold the state of one check."""

    channel: CallChannel
    pace: Pace
    dice: Random
    planned: int
    tell: ReportProgress
    unproven_ends: bool = False  # a failed challenge ends the check
    manifest: messages.Manifest | None = None
    notes: FindingCollector = field(default_factory=FindingCollector)
    asked: int = 0
    step: str = ""
    answer_ms: list[float] = field(default_factory=list)  # of the questions that were asked
    answered: list[ProbeQuestion] = field(default_factory=list)  # without a fault
    coverage: dict[str, Json] = field(default_factory=dict)
    first_errors: dict[str, str] = field(
        default_factory=dict
    )  # by game: the place of the first error that the bot reported

    @property
    def secrets(self) -> tuple[str, ...]:
        return self.channel.target.secrets

    @property
    def median_ms(self) -> float | None:
        return percentiles(self.answer_ms)["p50"] if self.answer_ms else None

    @property
    def is_slow(self) -> bool:
        """Return whether the bot usually exceeds the budget."""
        return len(self.answer_ms) >= MIN_TIMED and (self.median_ms or 0) > self.pace.budget_ms

    @property
    def question_time_s(self) -> float:
        """Return the time for the questions about all games, which is limited for a slow bot."""
        return min(self.pace.question_time_s, self.pace.slow_question_time_s if self.is_slow else math.inf)

    def report_progress(self, step: str = "") -> None:
        """Report the progress, in a new step if one is given."""
        self.step = step or self.step
        self.tell(self.asked, self.planned, self.step, self.median_ms)

    def decide_call(self, question: ProbeQuestion) -> Call:
        return Call("POST", "/decide", question.id, question.body, self.secrets)

    def notify_call(self, body: bytes, id: str) -> Call:
        return Call("POST", "/notify", id, body, self.secrets)

    async def ask_and_judge(self, question: ProbeQuestion, call: Call | None = None) -> tuple[Reply, messages.Decision]:
        """Ask a question and judge the answer. A ``call`` replaces the ordinary call and gets its own connection."""
        caller = self.channel.caller(call) if call else None
        call = call or self.decide_call(question)
        self.report_progress()
        try:
            reply = await self.channel.send(call, self.pace.deadline_ms, caller)
        finally:
            if caller:
                caller.close()
        if not reply.ok:
            return reply, messages.Decision(fault=reply.fault, detail=reply.detail)
        self.note_time("budget", call, reply, where=question.where)
        decision = question.judge_reply(reply.body)
        self._note_error(decision.error, question, call)
        return reply, decision

    def _note_error(self, error: str, question: ProbeQuestion, call: Call) -> None:
        """Note an error that the bot reported. Keep one finding per game, with the first error and its question."""
        where = self.first_errors.setdefault(question.scenario.rules.name, question.where) if error else ""
        self.note("no_error", call, "error" if error else "", error, where=where)

    async def apply_rule(self, rule: str, question: ProbeQuestion, call: Call | None = None) -> messages.Decision:
        """Ask a question and note under ``rule`` whether the answer has a fault."""
        reply, decision = await self.ask_and_judge(question, call)
        if rule == "decision":
            self.answer_ms.append(reply.ms)
        self.note_reply(rule, call or self.decide_call(question), reply, decision, where=question.where)
        return decision

    async def send(self, call: Call) -> Reply:
        """Make a call that is not a question, within the time of a notice."""
        return await self.channel.send(call, self.pace.notice_ms)

    def note_reply(
        self,
        rule: str,
        call: Call,
        reply: Reply,
        decision: messages.Decision | None = None,
        *,
        where: str = "",
        request: str = "",
    ) -> None:
        """Note whether this reply, with its ``decision`` if it answers a question, kept the rule.

        ``request`` names the request that was answered, if it is not ``call``.
        """
        fault = decision.fault if decision is not None else reply.fault
        request = request or f"{call.method} {call.path}"
        is_proven = self.notes.has_passed("challenge")
        explained = causes.explain(request, fault, reply, where=where, is_proven=is_proven)
        self.note(rule, call, fault, describe_reply(reply, decision), where=where, explained=explained)

    def note_time(self, rule: str, call: Call, reply: Reply, *, where: str = "") -> None:
        """Note under ``rule`` whether this reply arrived within the budget."""
        self.note(rule, call, "late" if reply.ms > self.pace.budget_ms else "", _describe_timing(reply), where=where)

    def note(
        self, rule: str, call: Call, fault: str, came: str, *, where: str = "", explained: FaultAdvice | None = None
    ) -> None:
        """Note that the reply to this call broke the rule if there is a ``fault``, otherwise that it kept the rule."""
        if not fault:
            self.notes.record_pass(rule)
            return
        known = self.notes.has_violation(rule, where, fault)
        curl = "" if known else self.channel.curl(call)
        self.notes.record_violation(rule, came, where=where, fault=fault, curl=curl, explained=explained)

    def new_match_id(self) -> str:
        """Return the id of a match that no other question of the check has."""
        return fresh_id("mat", self.dice)


def _describe_timing(reply: Reply) -> str:
    """Return the latency of a call and of its parts as text."""
    timing = reply.timing
    parts = {"resolve": timing.dns_ms, "connect": timing.connect_ms, "wait": timing.wait_ms, "read": timing.read_ms}
    return f"{reply.ms} ms ({', '.join(f'{part} {spent:.0f}' for part, spent in parts.items())})"


def describe_reply(reply: Reply, decision: messages.Decision | None = None) -> str:
    """Return a reply as text: the detail of its fault, if any, and the beginning of the body."""
    detail = decision.detail if decision is not None and decision.detail else reply.detail
    start = reply.body[:200].decode("utf-8", "replace")
    return "; ".join(part for part in (detail, f"body {start!r}" if start else "") if part)
