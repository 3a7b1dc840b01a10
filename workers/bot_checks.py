"""Run handshakes (challenge, then manifest) and checks (the conformance suite) of registered bots."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from random import Random
from secrets import token_hex
from typing import Final

from sqlalchemy.orm import Session

from referee.botclient import client
from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, CallLimits, CallTarget, HandshakeResult
from referee.botclient.private_replies import hide_private_failure, is_private_url
from referee.bots import bots, checks, handshakes
from referee.bots.checks import CheckOutcome, ClaimedCheck
from referee.bots.tables import Bot
from referee.conformance.context import Pace
from referee.conformance.report import ConformanceReport
from referee.conformance.storage import report_to_json
from referee.conformance.suite import run_check
from referee.db.engine import current_time
from referee.errors import StaleEpoch, Unavailable
from referee.games import catalogue
from referee.match.canonical import Json
from referee.protocol.signing import bot_secrets
from referee.workflows.bots import check_results, handshake_results
from workers.connectivity import Connectivity
from workers.database_thread import DatabaseThread

log = logging.getLogger(__name__)

PRIVATE_FAILURE_S: Final = 7.0  # the wait for a place, the whole time of a challenge, and a reserve
PACE: Final = Pace(idle_s=1.0, question_time_s=25.0, time_limit_s=90.0, scenarios=6)


async def perform_handshake(
    handshake: handshakes.ClaimedHandshake,
    database: DatabaseThread,
    policy: Policy,
    limits: CallLimits,
    master_key: bytes,
    connectivity: Connectivity,
    *,
    wait: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Perform a handshake.

    1. Send a signed challenge, and nothing else before it succeeds. 2. Fetch the manifest. 3. Record the report.

    Of an address on a private network that proves nothing, the report says only whether it accepted a connection, and
    comes after ``PRIVATE_FAILURE_S``, whatever happened there.

    Raise ``Unavailable``, and record nothing, if our clock is wrong, or our resolver, our network or the database is
    down, and ``NoRoom`` if too many handshakes with this address are under way.
    """
    secrets = bot_secrets(master_key, handshake.bot_id, handshake.secret_generations)
    target = CallTarget(handshake.bot_id, handshake.url, secrets, 1, handshake.owner_id)
    caller = BotCaller(target, policy, limits, now=connectivity.clock.wall_s, follow_bot_clock=True)
    before = connectivity.clock.read()
    may_end_at = asyncio.get_running_loop().time() + PRIVATE_FAILURE_S
    try:
        challenged = await client.challenge(caller)
        introduced = None if challenged.fault else await client.fetch_manifest(caller)
    finally:
        caller.close()
    last = (introduced or challenged).reply
    last.require_made()
    if last.unresolved and await connectivity.is_resolver_down():
        raise Unavailable(f"not the bot's fault: {last.detail}")
    if connectivity.is_our_clock(handshake.bot_id, last, before):
        raise Unavailable("the clock of this host is wrong")
    if challenged.fault and is_private_url(handshake.url, policy):
        challenged = HandshakeResult(hide_private_failure(challenged.reply))
        await wait(may_end_at - asyncio.get_running_loop().time())
    report: Json = {"challenge": _step(challenged), "manifest": introduced and _step(introduced)}
    manifest = None
    if introduced is not None and introduced.manifest is not None:
        known = [game for game in introduced.manifest.games if game in catalogue()]
        report["games"] = known
        report["unknown_games"] = [game for game in introduced.manifest.games if game not in known]
        if known:
            manifest = replace(introduced.manifest, games=tuple(known))
        else:
            report["manifest"] |= {
                "ok": False,
                "code": "no_known_game",
                "detail": f"games must name at least one of {', '.join(catalogue())}",
            }
    report["ok"] = manifest is not None
    try:
        await database.write(handshake_results.finish_handshake, handshake.bot_id, handshake.epoch, report, manifest)
    except StaleEpoch as error:
        log.info("handshake_claim_lost", extra={"bot": handshake.bot_id, "reason": str(error)})


@dataclass(frozen=True, slots=True)
class CheckParameters:
    """Hold the parameters of a check by the service. It is shorter than a check by command and has a time limit."""

    questions: int = 60
    told_every_s: float = 0.5  # shortest interval between two writes of the progress
    held_every_s: float = 3.0  # longest interval between two writes, which renew the lease
    pace: Pace = PACE


async def check_bot(
    claimed: ClaimedCheck,
    database: DatabaseThread,
    policy: Policy,
    limits: CallLimits,
    master_key: bytes,
    suite: CheckParameters,
    connectivity: Connectivity,
) -> None:
    """Run the conformance suite on a bot whose address is verified; record the outcome and issue a certificate.

    If cancelled, release the claim. Raise ``Unavailable`` if our clock is wrong, or our resolver, our network or the
    database is down, and ``NoRoom`` if too many connections to this address are in use.
    """
    before = connectivity.clock.read()
    bot, secrets = await database.read(_to_be_called, claimed.bot_id, master_key)
    seed = token_hex(8)
    check = asyncio.create_task(
        run_check(
            CallTarget(bot.id, bot.verified_url or bot.url, secrets, bot.max_concurrent_requests, bot.owner_id),
            policy,
            limits,
            questions=suite.questions,
            dice=Random(f"referee check|{seed}"),  # noqa: S311  # picks questions; `referee check --seed` asks the same
            pace=replace(suite.pace, max_concurrent=claimed.at_once),
            tell=(progress := _Progress()).tell,
            signs_later=True,
            unproven_ends=True,
        )
    )
    try:
        await _record_progress(check, progress, claimed, database, suite)
        report = await check
        if "dns_failed" in {finding.fault for finding in report.findings} and await connectivity.is_resolver_down():
            raise Unavailable("the resolver does not answer")
        if before.ahead_s or connectivity.clock.ahead_s():
            raise Unavailable("the clock of this host is wrong")
        outcome = _outcome(report, seed)
        await database.write(check_results.finish_check, claimed, outcome)
    except StaleEpoch as error:
        log.info("check_claim_lost", extra={"bot": claimed.bot_id, "reason": str(error)})
    except asyncio.CancelledError:
        await database.write(checks.give_back, claimed)
        raise
    finally:
        check.cancel()
        await asyncio.gather(check, return_exceptions=True)


@dataclass(slots=True)
class _Progress:
    """Track the progress of a check: the questions sent, the total number of questions and the current step."""

    at: tuple[int, int, str] = (0, 0, "")

    def tell(self, asked: int, planned: int, what: str, _median_ms: float | None) -> None:
        self.at = asked, max(asked, planned), what


async def _record_progress(
    check: asyncio.Task[ConformanceReport],
    progress: _Progress,
    claimed: ClaimedCheck,
    database: DatabaseThread,
    suite: CheckParameters,
) -> None:
    """Record the progress of a check until it ends. Raise ``StaleEpoch`` as soon as the claim is lost."""
    written, silent_s = progress.at, 0.0
    while not (await asyncio.wait({check}, timeout=suite.told_every_s))[0]:
        silent_s += suite.told_every_s
        if progress.at == written and silent_s < suite.held_every_s:
            continue
        written, silent_s = progress.at, 0.0
        try:
            await database.write_soon(checks.tell, claimed, *written)
        except Unavailable as error:
            log.warning("check_progress_not_recorded", extra={"bot": claimed.bot_id, "reason": str(error)})


def _to_be_called(session: Session, bot_id: str, master_key: bytes) -> tuple[Bot, tuple[str, ...]]:
    bot = bots.get_bot(session, bot_id)
    return bot, bot_secrets(master_key, bot.id, bots.signing_generations(bot, current_time(session)))


def _outcome(report: ConformanceReport, seed: str) -> CheckOutcome:
    """Return the outcome to store. It includes no rules if the bot changed its version during the check."""
    bot = report.bot or {}
    replaced = any(finding.id == "same_version" for finding in report.findings_of("fail"))
    return CheckOutcome(
        version=bot.get("version"),
        asked={} if replaced else report.rules,
        passed=report.passed,
        protocol=report.protocol,
        report=report_to_json(report, seed),
        warnings=list(dict.fromkeys(finding.id for finding in report.findings_of("warn"))),
        games=[game for game in bot["games"] if game in catalogue()] if bot else None,
        max_concurrent_requests=bot.get("max_concurrent_requests"),
    )


def _step(step: HandshakeResult) -> Json:
    """Return the result of one call of a handshake, in the form of the report to the owner."""
    reply = step.reply
    return {
        "ok": reply.ok,
        "code": reply.fault or None,
        "detail": reply.detail or None,
        "status": reply.status or None,
        "attempts": reply.attempts,
        **reply.latency(),
        "reply": reply.body[:500].decode("utf-8", "replace") if reply.fault else None,
    }
