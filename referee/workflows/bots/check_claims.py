"""Claim checks of bots that are due. A check uses only the concurrent calls that the bot's matches leave free."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from referee.bots import checks
from referee.bots.checks import ClaimedCheck
from referee.bots.states import PROVEN
from referee.bots.tables import Bot, Check
from referee.db.engine import current_time, lease_now
from referee.matches.queue import capacity


def claim_due(session: Session, limit: int) -> list[ClaimedCheck]:
    """Claim up to ``limit`` checks that are due or whose lease expired. After three lost claims, end a check as failed.

    Owners take turns: next comes a check of the owner with the fewest running checks, first one that they requested,
    otherwise the oldest. A bot whose matches use all of its calls is skipped until some calls are free.
    """
    boot, seconds = lease_now(session)
    left = capacity.calls_left(session, boot, seconds)
    in_order = _turns(session, boot, seconds, [bot for bot, calls in left.items() if calls <= 0], limit)
    query = select(Check.bot_id).where(Check.bot_id.in_(in_order))
    rows = {check.bot_id: check for check in checks.LEASES.claim(session, query)}
    bots = {bot.id: bot for bot in session.scalars(select(Bot).where(Bot.id.in_(rows)))}
    taken: list[ClaimedCheck] = []
    for check, bot in ((rows[bot_id], bots[bot_id]) for bot_id in in_order if bot_id in rows):
        if check.lost_claims >= checks.LOST_BEFORE_GIVEN_UP:
            checks.end_check(check, bot.version, {}, checks.GIVEN_UP, current_time(session))
        else:
            at_once = min(capacity.CALLS_PER_CHECK, left.get(bot.id, bot.max_concurrent_requests))
            taken.append(ClaimedCheck(bot.id, check.epoch, at_once, current_time(session)))
    session.flush()
    return taken


def _turns(session: Session, boot: str, seconds: float, full: Sequence[str], limit: int) -> list[str]:
    """Return the ids of the bots whose checks come next, in order."""
    # This is a separate query, because leased checks are few: counting them for every due row took PostgreSQL seconds.
    owners = select(Bot.owner_id).join(Check, Check.bot_id == Bot.id).where(checks.LEASES.is_leased(boot, seconds))
    under_way = Counter(session.scalars(owners))
    line = Check.requested_by_owner.desc(), Check.due_at, Bot.id
    turn: ColumnElement[int] = func.row_number().over(partition_by=Bot.owner_id, order_by=line)
    if under_way:
        turn = turn + case(dict(under_way), value=Bot.owner_id, else_=0)
    query = select(Bot.id).join(Check, Check.bot_id == Bot.id)
    query = query.where(checks.LEASES.is_claimable(boot, seconds), Bot.status.in_(PROVEN), Bot.id.not_in(full))
    return list(session.scalars(query.order_by(turn, *line).limit(limit)))
