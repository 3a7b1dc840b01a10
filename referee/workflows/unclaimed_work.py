"""Find handshakes, checks and work of extras that are due while none of their kind is under way: no runner claims them.

``queue_progress`` does this for matches. What is under way ends in bounded time, and then the next ones are claimed.
"""

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from referee.bots import checks, handshakes
from referee.bots.states import PROVEN, BotState
from referee.bots.tables import Bot, Check
from referee.db import extra_work
from referee.db.engine import lease_now
from referee.matches.queue import capacity


def list_unclaimed(session: Session) -> list[str]:
    """Return the kinds of which something is due and nothing under way. Checks of bots without free calls wait."""
    boot, seconds = lease_now(session)
    full = [bot for bot, calls in capacity.calls_left(session, boot, seconds).items() if calls <= 0]
    due_handshakes = select(Bot.id).where(handshakes.LEASES.is_claimable(boot, seconds), Bot.status != BotState.RETIRED)
    due_checks = select(Check.bot_id).join(Bot, Bot.id == Check.bot_id)
    due_checks = due_checks.where(
        checks.LEASES.is_claimable(boot, seconds), Bot.status.in_(PROVEN), Bot.id.not_in(full)
    )
    found = []
    for kind, due, leases in (("handshakes", due_handshakes, handshakes.LEASES), ("checks", due_checks, checks.LEASES)):
        under_way = exists().where(leases.is_leased(boot, seconds))
        if session.scalar(due.where(~under_way).limit(1)) is not None:
            found.append(kind)
    return [*found, *extra_work.list_unclaimed(session)]
