"""Record the results of checks: bots join the ladders of games that they passed, owners hear of lost certificates."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.bots import bots, checks
from referee.bots.checks import CheckOutcome, ClaimedCheck
from referee.bots.tables import Certificate
from referee.db.reporting import notify
from referee.events import CertificateLost
from referee.ladders import members, new_versions


def finish_check(session: Session, claimed: ClaimedCheck, outcome: CheckOutcome) -> None:
    """Record the outcome of a check as ``checks.finish`` does, and let the bot join official ladders.

    Notify the owner of games for which the bot had a certificate and did not pass any more.

    Raise the same errors as ``checks.finish``.
    """
    before = _certified_games(session, claimed.bot_id)
    certificate = checks.finish(session, claimed, outcome)
    bot = bots.get_bot(session, claimed.bot_id)
    if certificate is not None:
        new_versions.begin_version(session, bot, certificate)
    members.refresh_memberships(session, bot)
    if outcome.version is not None and (lost := sorted(before - set(outcome.passed))):
        owner, about = [bot.owner_id], {"bot": bot.id, "name": bot.name, "version": outcome.version}
        notify(session, CertificateLost(accounts=owner, **about, games=lost))


def _certified_games(session: Session, bot_id: str) -> set[str]:
    """Return the games of the bot's newest certificate that has not ended, also if it is for an earlier version."""
    held = select(Certificate.rules).where(Certificate.bot_id == bot_id, Certificate.ended_at.is_(None))
    return set(session.scalar(held.order_by(Certificate.issued_at.desc(), Certificate.id.desc()).limit(1)) or ())
