"""Record the results of handshakes, including those that a tournament requested before its start."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.bots import checks, handshakes
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.ladders import members
from referee.protocol.messages import Manifest
from referee.tournaments.states import IN_PROGRESS, NOT_READY
from referee.tournaments.tables import Tournament, TournamentEntry


def finish_handshake(
    session: Session, bot_id: str, epoch: int, report: dict[str, Any], manifest: Manifest | None
) -> Bot:
    """Record a handshake. With a manifest the bot becomes verified at its URL, otherwise unverified.

    A bot that a tournament calls before its start stays verified if it only failed to answer, but it is absent from the
    tournament. A successful handshake causes a check if one is needed, and lets the bot play on official ladders again.
    ``report`` is shown to the owner. Raise
    ``StaleEpoch`` if the handshake was claimed again or the bot's address changed.
    """
    bot = handshakes.LEASES.lock(session, bot_id, epoch)
    forgiven = manifest is None and _failed_to_answer(report) and _called_by_tournament(session, bot)
    moment = current_time(session)
    handshakes.end_handshake(bot, report, manifest, moment, forgiven=forgiven)
    if manifest is not None:
        checks.schedule_if_needed(session, bot, moment)
        members.refresh_memberships(session, bot)
    else:
        checks.call_off(session, bot.id)
    return bot


def _failed_to_answer(report: dict[str, Any]) -> bool:
    """Return whether the bot gave no answer, as opposed to an answer that shows that it does not know its secret."""
    challenge = report.get("challenge") or {}
    return challenge.get("code") not in ("wrong_proof", "not_proven")


def _called_by_tournament(session: Session, bot: Bot) -> bool:
    """Return whether a tournament in progress waits for this handshake and the address was verified before."""
    entry = TournamentEntry
    waiting = select(entry.bot_id).join(Tournament, Tournament.id == entry.tournament_id)
    waiting = waiting.where(entry.bot_id == bot.id, entry.preflight.in_(NOT_READY), entry.withdrawn_at.is_(None))
    waiting = waiting.where(Tournament.status.in_(IN_PROGRESS))
    return bot.verified_url == bot.url and session.scalar(waiting.limit(1)) is not None
