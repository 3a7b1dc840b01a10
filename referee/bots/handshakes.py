"""Claim and finish handshakes of bots. Runners send the challenge and read the manifest.

The check that may follow is in ``checks``.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.bots.bots import signing_generations
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.leases import Leases
from referee.db.names import make_storable
from referee.protocol.messages import Manifest

CHECKS_AT_ONCE = 10
LOST_BEFORE_GIVEN_UP = 3  # a handshake that kills its runners must not keep killing the matches beside it
GIVEN_UP = {
    "ok": False,
    "challenge": {"ok": False, "code": "referee_failed", "detail": "the referee could not finish this check"},
    "manifest": None,
}
LEASES: Final = Leases(Bot, state="check_state", lost="checks_lost")


@dataclass(frozen=True, slots=True)
class ClaimedHandshake:
    """A claimed handshake, with all that a runner needs to perform it."""

    bot_id: str
    epoch: int
    url: str
    secret_generations: tuple[int, ...]  # as for ``matches.RunnerSeat``
    owner_id: str


def claim_due_checks(session: Session, limit: int = CHECKS_AT_ONCE) -> list[ClaimedHandshake]:
    """Claim handshakes that are due or whose lease expired. After three lost claims, end one as failed instead."""
    query = select(Bot.id).where(Bot.status != "retired").order_by(Bot.check_due_at, Bot.id).limit(limit)
    moment = current_time(session)
    taken = []
    for bot in LEASES.claim(session, query):
        if bot.checks_lost >= LOST_BEFORE_GIVEN_UP:
            end_check(bot, GIVEN_UP, None, moment)
        else:
            taken.append(ClaimedHandshake(bot.id, bot.epoch, bot.url, signing_generations(bot, moment), bot.owner_id))
    session.flush()
    return taken


def end_check(
    bot: Bot, report: dict[str, Any], manifest: Manifest | None, moment: datetime, *, forgiven: bool = False
) -> None:
    bot.check_state, bot.check_due_at, bot.checked_at, bot.checks_lost = "idle", None, moment, 0
    bot.end_lease()
    bot.check_report = report
    if manifest is not None:
        bot.verified_url = bot.url
        bot.version = make_storable(manifest.version)[:128]
        bot.games = [make_storable(game)[:40] for game in manifest.games]
        bot.max_concurrent_requests = manifest.max_concurrent_requests
    if bot.status in ("unverified", "verified") and not (forgiven and bot.status == "verified"):
        bot.status = "unverified" if manifest is None else "verified"
        bot.status_reason = "the check failed" if manifest is None else None
    bot.revision += 1
