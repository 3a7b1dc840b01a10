"""Run a check from the first call to the report. Other modules of this package implement its phases."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from random import Random

import referee
from referee.botclient.address_guard import Policy
from referee.botclient.client import CallLimits, CallTarget
from referee.conformance import causes, decisions, handshake, robustness, signatures
from referee.conformance.calls import BotUnreachable, CallChannel, SecretRequired
from referee.conformance.context import CheckContext, Pace, ReportProgress
from referee.conformance.report import SIGNATURE_RULES, ConformanceReport
from referee.protocol import messages


async def run_check(
    target: CallTarget,
    policy: Policy,
    limits: CallLimits,
    *,
    games: Sequence[str] = (),
    questions: int = 200,
    dice: Random,
    pace: Pace | None = None,
    tell: ReportProgress = lambda asked, planned, step, median_ms: None,
    signs_later: bool = False,
    unproven_ends: bool = False,
    reports_when_cancelled: bool = False,
) -> ConformanceReport:
    """Check the bot at ``target``: its handshake, about ``questions`` decisions, its robustness and its signatures.

    ``games`` are the names of games to check, by default all games in the manifest. Without secrets in ``target``,
    calls are unsigned and the rules about signatures are skipped. Commands in the report are signed during the check
    or, with ``signs_later``, when they are run. Equal ``dice`` produce equal questions. With ``unproven_ends``, a
    failed challenge ends the check. With ``reports_when_cancelled``, a cancelled check returns the report so far,
    marked as ``interrupted``. Raise ``Unavailable`` if this host cannot make calls.
    """
    pace = pace or Pace()
    line = CallChannel(target, policy, limits, now=pace.now, signs_later=signs_later)
    check = CheckContext(line, pace, dice, questions, tell, unproven_ends)
    try:
        await _run_within_time(check, games)
    except SecretRequired as locked:
        check.notes.record_violation("secret_needed", str(locked), fault="bad_status", curl=line.curl(locked.call))
    except BotUnreachable as gone:
        check.note_reply("stays_up", gone.call, gone.reply)
    except asyncio.CancelledError:
        if not reports_when_cancelled:
            raise
        return replace(_report(check), interrupted=True)
    finally:
        line.close()
    return _report(check)


async def _run_within_time(check: CheckContext, games: Sequence[str]) -> None:
    """Run the phases until the time limit. Rules that were not reached by then count as skipped."""
    try:
        async with asyncio.timeout(check.pace.time_limit_s) as limit:
            await _run_phases(check, games)
    except TimeoutError:
        if not limit.expired():
            raise
        came = f"{check.channel.calls} calls took more than {check.pace.time_limit_s:.0f} s"
        check.notes.record_violation("in_time", came, fault="deadline")


async def _run_phases(check: CheckContext, games: Sequence[str]) -> None:
    """Run the phases in order: handshake, decisions, robustness, signatures, and the manifest again."""
    check.report_progress("manifest and notices")
    if not await handshake.run_handshake(check):
        return
    chosen = handshake.choose_games(check, games)
    await decisions.ask_all(check, chosen)
    if not check.answered:
        reason = "no question was answered without a fault" if chosen else "the manifest names no existing game"
        check.notes.skip(("decision", "no_error", "budget", *robustness.ROBUSTNESS_RULES, *SIGNATURE_RULES), reason)
        return
    check.planned = check.asked
    check.report_progress("robustness")
    await robustness.check_robustness(check)
    await signatures.check_signatures(check)
    await handshake.recheck_manifest(check)


def _report(check: CheckContext) -> ConformanceReport:
    line, manifest = check.channel, check.manifest
    if check.is_slow and check.median_ms is not None:
        check.notes.explain_lateness(causes.slowness(check.median_ms, check.pace.budget_ms))
    return ConformanceReport(
        url=line.target.url,
        protocol=messages.PROTOCOL,
        engine_version=referee.__version__,
        signed=bool(line.target.secrets),
        bot={**asdict(manifest), "games": list(manifest.games)} if manifest else None,
        rules={name: covered["rules_version"] for name, covered in check.coverage.items()},
        questions=check.asked,
        calls=line.calls,
        findings=check.notes.findings(),
        skipped=check.notes.skipped_rules(),
        latency=line.latency(),
        coverage=check.coverage,
    )
