"""The check of a registered bot: whoever answers must know its secret, then say what it plays; and its examination."""

import asyncio
import logging
from dataclasses import dataclass, replace
from random import Random
from secrets import token_hex
from typing import Final

from sqlalchemy.orm import Session

from referee.botclient import client
from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, CallLimits, HandshakeResult, Target
from referee.bots import bots, handshakes
from referee.bots import checks as examinations
from referee.bots.checks import Claimed, ExaminationOutcome
from referee.bots.tables import Bot
from referee.conformance.context import Pace
from referee.conformance.report import ConformanceReport
from referee.conformance.storage import report_to_json
from referee.conformance.suite import examine
from referee.db.engine import current_time
from referee.errors import StaleEpoch, Unavailable
from referee.games import catalogue
from referee.match.canonical import Json
from referee.protocol.signing import bot_secrets
from referee.workflows import handshake_results
from workers.batch_writer import Recorder

log = logging.getLogger(__name__)

PACE: Final = Pace(idle_s=1.0, asking_s=25.0, within_s=90.0, scenarios=6)


async def check_bot(check: handshakes.ClaimedHandshake, recorder: Recorder, policy: Policy, master_key: bytes) -> None:
    """1. A signed challenge; before it is met nothing else is sent there. 2. The manifest. 3. The report."""
    secrets = bot_secrets(master_key, check.bot_id, check.secret_generations)
    caller = BotCaller(Target(check.bot_id, check.url, secrets, max_concurrent_requests=1), policy)
    try:
        challenged = await client.challenge(caller)
        introduced = None if challenged.fault else await client.fetch_manifest(caller)
    finally:
        caller.close()
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
        await recorder.write(handshake_results.finish_check, check.bot_id, check.epoch, report, manifest)
    except StaleEpoch as error:
        log.info("check is void", extra={"bot": check.bot_id, "reason": str(error)})


@dataclass(frozen=True, slots=True)
class Suite:
    """How a service examines: shorter than a bot's author does, and never for long."""

    questions: int = 60
    told_every_s: float = 0.5  # at most so often it is written how far it is
    held_every_s: float = 3.0  # and at least so often that it is still ours
    pace: Pace = PACE


async def examine_bot(
    claimed: Claimed, recorder: Recorder, policy: Policy, limits: CallLimits, master_key: bytes, suite: Suite
) -> None:
    """The conformance suite on a bot whose address is proven; what it found is recorded, and attested.

    Cancelled it gives the examination back. Raises ``Unavailable`` when it is we who cannot call, or write.
    """
    bot, secrets = await recorder.read(_to_be_called, claimed.bot_id, master_key)
    seed = token_hex(8)
    examining = asyncio.create_task(
        examine(
            Target(bot.id, bot.verified_url or bot.url, secrets, max_concurrent_requests=bot.max_concurrent_requests),
            policy,
            limits,
            questions=suite.questions,
            dice=Random(f"referee check|{seed}"),  # noqa: S311  # picks questions; `referee check --seed` asks the same
            pace=replace(suite.pace, at_once=claimed.at_once),
            tell=(told := _Told()).tell,
            signs_later=True,
            unproven_ends=True,
        )
    )
    try:
        await _tell_until_over(examining, told, claimed, recorder, suite)
        outcome = _outcome(await examining, seed)
        await recorder.write(examinations.finish, claimed, outcome)
    except StaleEpoch as error:
        log.info("examination is void", extra={"bot": claimed.bot_id, "reason": str(error)})
    except asyncio.CancelledError:
        await recorder.write(examinations.give_back, claimed)
        raise
    finally:
        examining.cancel()
        await asyncio.gather(examining, return_exceptions=True)


@dataclass(slots=True)
class _Told:
    """How far an examination is."""

    at: tuple[int, int, str] = (0, 0, "")

    def tell(self, asked: int, planned: int, what: str) -> None:
        self.at = asked, max(asked, planned), what


async def _tell_until_over(
    examining: asyncio.Task[ConformanceReport], told: _Told, claimed: Claimed, recorder: Recorder, suite: Suite
) -> None:
    """Writes how far it is while it goes on. Raises ``StaleEpoch`` as soon as it is no longer ours."""
    written, silent_s = told.at, 0.0
    while not (await asyncio.wait({examining}, timeout=suite.told_every_s))[0]:
        silent_s += suite.told_every_s
        if told.at == written and silent_s < suite.held_every_s:
            continue
        written, silent_s = told.at, 0.0
        try:
            await recorder.write_soon(examinations.tell, claimed, *written)
        except Unavailable as error:
            log.warning("progress not recorded", extra={"bot": claimed.bot_id, "reason": str(error)})


def _to_be_called(session: Session, bot_id: str, master_key: bytes) -> tuple[Bot, tuple[str, ...]]:
    bot = bots.get_bot(session, bot_id)
    return bot, bot_secrets(master_key, bot.id, bots.signing_generations(bot, current_time(session)))


def _outcome(report: ConformanceReport, seed: str) -> ExaminationOutcome:
    """Of a bot that was replaced meanwhile nothing is known: neither version was looked at."""
    bot = report.bot or {}
    replaced = any(finding.id == "same_version" for finding in report.of("fail"))
    return ExaminationOutcome(
        version=bot.get("version"),
        asked={} if replaced else report.rules,
        passed=report.passed,
        protocol=report.protocol,
        report=report_to_json(report, seed),
        warnings=list(dict.fromkeys(finding.id for finding in report.of("warn"))),
        games=[game for game in bot["games"] if game in catalogue()] if bot else None,
        max_concurrent_requests=bot.get("max_concurrent_requests"),
    )


def _step(step: HandshakeResult) -> Json:
    """One call as its owner reads of it."""
    reply = step.reply
    return {
        "ok": not step.fault,
        "code": step.fault or None,
        "detail": step.detail or None,
        "status": reply.status or None,
        "attempts": reply.attempts,
        "total_ms": reply.ms,
        "dns_ms": reply.timing.dns_ms,
        "connect_ms": reply.timing.connect_ms,
        "wait_ms": reply.timing.wait_ms,
        "read_ms": reply.timing.read_ms,
        "reply": reply.body[:500].decode("utf-8", "replace") if step.fault else None,
    }
