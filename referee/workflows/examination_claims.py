"""Claim examinations of bots that are due. A bot is asked no more at the same time than its matches leave it."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from referee.bots import checks
from referee.bots.checks import ClaimedCheck
from referee.bots.tables import Bot, Examination
from referee.db.engine import current_time, lease_now
from referee.matches import match_queue


def claim_due(session: Session, limit: int) -> list[ClaimedCheck]:
    """Up to ``limit`` that are due, or whose claimer has gone. Owners take turns: whoever has the fewest under way
    comes next, and of his what he asked for first, then the oldest.

    A bot that plays as much as it takes calls for comes later.
    """
    boot, seconds = lease_now(session)
    left = match_queue.calls_left(session, boot, seconds)
    in_order = _choose_bots(session, boot, seconds, [bot for bot, calls in left.items() if calls <= 0], limit)
    query = select(Examination.bot_id).where(Examination.bot_id.in_(in_order))
    rows = {one.bot_id: one for one in checks.LEASES.claim(session, query)}
    bots = {bot.id: bot for bot in session.scalars(select(Bot).where(Bot.id.in_(rows)))}
    taken: list[ClaimedCheck] = []
    for one, bot in ((rows[bot_id], bots[bot_id]) for bot_id in in_order if bot_id in rows):
        if one.lost_claims >= checks.LOST_BEFORE_GIVEN_UP:
            checks.end_examination(one, bot.version, {}, checks.GIVEN_UP, current_time(session))
        else:
            at_once = min(match_queue.EXAMINED_AT_ONCE, left.get(bot.id, bot.max_concurrent_requests))
            taken.append(ClaimedCheck(bot.id, one.epoch, at_once, current_time(session)))
    session.flush()
    return taken


def _choose_bots(session: Session, boot: str, seconds: float, full: Sequence[str], limit: int) -> list[str]:
    """The bots that come next."""
    # Asked first, for they are few: counted beside every due row, they made PostgreSQL take seconds.
    owners = (
        select(Bot.owner_id)
        .join(Examination, Examination.bot_id == Bot.id)
        .where(checks.LEASES.is_leased(boot, seconds))
    )
    under_way = Counter(session.scalars(owners))
    line = Examination.requested_by_owner.desc(), Examination.due_at, Bot.id
    turn: ColumnElement[int] = func.row_number().over(partition_by=Bot.owner_id, order_by=line)
    if under_way:
        turn = turn + case(dict(under_way), value=Bot.owner_id, else_=0)
    query = select(Bot.id).join(Examination, Examination.bot_id == Bot.id)
    query = query.where(checks.LEASES.is_claimable(boot, seconds), Bot.status.in_(checks.PROVEN), Bot.id.not_in(full))
    return list(session.scalars(query.order_by(turn, *line).limit(limit)))
