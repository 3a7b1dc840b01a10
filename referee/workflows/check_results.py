"""Record the results of checks, after which bots join the official ladders of the games that they passed."""

from sqlalchemy.orm import Session

from referee.bots import bots, checks
from referee.bots.checks import CheckOutcome, ClaimedCheck
from referee.ladders import members


def finish_check(session: Session, claimed: ClaimedCheck, outcome: CheckOutcome) -> None:
    """Record the outcome of a check as ``checks.finish`` does, and let the bot join official ladders.

    Raise the same errors as ``checks.finish``.
    """
    checks.finish(session, claimed, outcome)
    members.refresh_memberships(session, bots.get_bot(session, claimed.bot_id))
