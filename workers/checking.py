"""The check of a registered bot: whoever answers must know its secret, then say what it plays."""

import logging

from referee.bots import client
from referee.bots.client import BotCaller, Check, Target
from referee.bots.guard import Policy
from referee.bots.signing import bot_secrets
from referee.canonical import Json
from referee.errors import StaleEpoch
from referee.games import catalogue
from referee.store import checks
from workers.recorder import Recorder

log = logging.getLogger(__name__)


async def check_bot(check: checks.Check, recorder: Recorder, policy: Policy, master_key: bytes) -> None:
    """1. A signed challenge; before it is met nothing else is sent there. 2. The card. 3. The report."""
    secrets = bot_secrets(master_key, check.bot_id, check.secret_generations)
    caller = BotCaller(Target(check.bot_id, check.url, secrets, max_calls=1), policy)
    try:
        challenged = await client.challenge(caller)
        introduced = None if challenged.fault else await client.fetch_card(caller)
    finally:
        caller.close()
    report: Json = {"challenge": _step(challenged), "card": introduced and _step(introduced)}
    card = None
    if introduced is not None and introduced.card is not None:
        known = [game for game in introduced.card.games if game in catalogue()]
        report["games"] = known
        report["unknown_games"] = [game for game in introduced.card.games if game not in known]
        if known:
            card = checks.Card(introduced.card.version, known, introduced.card.max_calls)
        else:
            report["card"] |= {
                "ok": False,
                "code": "no_known_game",
                "detail": f"games must name at least one of {', '.join(catalogue())}",
            }
    report["ok"] = card is not None
    try:
        await recorder.write(checks.finish_check, check.bot_id, check.epoch, report, card)
    except StaleEpoch as error:
        log.info("check is void", extra={"bot": check.bot_id, "reason": str(error)})


def _step(step: Check) -> Json:
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
