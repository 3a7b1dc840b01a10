"""Record what a check of a bot found, also for the tournament that asked for it before its start."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.bots import checks, handshakes
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.protocol.messages import Manifest
from referee.tournaments.tables import Tournament, TournamentEntry


def finish_check(session: Session, bot_id: str, epoch: int, report: dict[str, Any], manifest: Manifest | None) -> Bot:
    """Notes what a check found: with a manifest the address counts as proven, without one the bot is unverified.

    A bot that an event calls before its start stays verified when it only did not answer: it is absent there. A check
    that went well is followed by an examination where one is needed.
    ``report`` is for the owner. Raises ``StaleEpoch`` when the check was claimed anew or the address changed.
    """
    bot = handshakes.LEASES.lock(session, bot_id, epoch)
    forgiven = manifest is None and _failed_to_answer(report) and _is_awaited_by_tournament(session, bot)
    moment = current_time(session)
    handshakes.end_check(bot, report, manifest, moment, forgiven=forgiven)
    if manifest is not None:
        checks.follow_check(session, bot, moment)
    else:
        checks.call_off(session, bot.id)
    return bot


def _failed_to_answer(report: dict[str, Any]) -> bool:
    """Whether nothing says that the address is not the bot's any more."""
    challenge = report.get("challenge") or {}
    return challenge.get("code") != "wrong_proof"


def _is_awaited_by_tournament(session: Session, bot: Bot) -> bool:
    """Whether an event that has begun waits for this check, of an address that was proven before."""
    entry = TournamentEntry
    waiting = (
        select(entry.bot_id)
        .join(Tournament, Tournament.id == entry.tournament_id)
        .where(entry.bot_id == bot.id, entry.preflight.in_(["asked", "absent"]), entry.withdrawn_at.is_(None))
        .where(Tournament.status.in_(["running", "paused"]))
    )
    return bot.verified_url == bot.url and session.scalar(waiting.limit(1)) is not None
