"""The examination of a bot from its first call to the report. What each part looks at stands in the files beside."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from random import Random

from referee import __version__
from referee.botclient.address_guard import Policy
from referee.botclient.client import CallLimits, Target
from referee.conformance import decisions, handshake, robustness, signatures
from referee.conformance.calls import CallChannel, Gone, Locked
from referee.conformance.context import ExaminationContext, Pace, Tell
from referee.conformance.report import ConformanceReport
from referee.match.canonical import Json
from referee.protocol import messages


async def examine(
    target: Target,
    policy: Policy,
    limits: CallLimits,
    *,
    games: Sequence[str] = (),
    questions: int = 200,
    dice: Random,
    pace: Pace | None = None,
    tell: Tell = lambda asked, planned, what: None,
    signs_later: bool = False,
    unproven_ends: bool = False,
) -> ConformanceReport:
    """Examines the bot at ``target``: its manifest, proof and nonces, then about ``questions`` decisions over ``games``
    (empty: all its manifest names), then how it takes what may happen to it. Without secrets in ``target`` nothing is
    signed and what is about signatures is left out.

    Commands in the report are signed now, or ``signs_later`` when they are run.

    The same dice ask the same questions. Raises ``Unavailable`` when it is we who cannot call. With ``unproven_ends``
    nothing but the challenge is sent to an address that does not meet it.
    """
    pace = pace or Pace()
    line = CallChannel(target, policy, limits, now=pace.now, signs_later=signs_later)
    exam = ExaminationContext(line, pace, dice, questions, tell, unproven_ends)
    try:
        await _in_time(exam, games)
    except Locked as locked:
        exam.notes.note_violation("secret_needed", str(locked), fault="bad_status", curl=line.curl(locked.call))
    except Gone as gone:
        exam.notes.note_violation("stays_up", str(gone), fault=gone.fault)
    finally:
        line.close()
    return _report(exam)


async def _in_time(exam: ExaminationContext, games: Sequence[str]) -> None:
    """Whatever is not looked at when the time is over is not looked at."""
    try:
        async with asyncio.timeout(exam.pace.within_s) as limit:
            await _run_phases(exam, games)
    except TimeoutError:
        if not limit.expired():
            raise
        came = f"{exam.line.calls} calls took more than {exam.pace.within_s:.0f} s"
        exam.notes.note_violation("in_time", came, fault="deadline")


async def _run_phases(exam: ExaminationContext, games: Sequence[str]) -> None:
    """1. Who is it? 2. Does it play? 3. Does it bear what may happen? 4. Does it look at signatures?
    5. Is it still the same?"""
    exam.tell(0, exam.planned, "manifest and notices")
    if not await handshake.meet(exam):
        return
    chosen = handshake.games_to_ask(exam, games)
    await decisions.ask_all(exam, chosen)
    if not exam.answered:
        reason = "no question was answered properly" if chosen else "there is no game to ask about"
        exam.notes.skip(("decision", "no_error", "budget", *robustness.LOOKED_AT, *signatures.LOOKED_AT), reason)
        return
    exam.tell(exam.asked, exam.asked, "what may happen")
    await robustness.handle(exam)
    await signatures.trust(exam)
    await handshake.part(exam)


def _report(exam: ExaminationContext) -> ConformanceReport:
    line, manifest = exam.line, exam.manifest
    return ConformanceReport(
        url=line.target.url,
        protocol=messages.PROTOCOL,
        engine_version=__version__,
        signed=bool(line.target.secrets),
        bot=_manifest_fields(manifest) if manifest else None,
        rules={name: covered["rules_version"] for name, covered in exam.coverage.items()},
        questions=exam.asked,
        calls=line.calls,
        findings=exam.notes.findings(),
        skipped=exam.notes.skipped_rules(),
        latency=line.latency(),
        coverage=exam.coverage,
    )


def _manifest_fields(manifest: messages.Manifest) -> Json:
    return {**asdict(manifest), "games": list(manifest.games)}
