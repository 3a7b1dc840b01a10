"""The evidence of what bots did wrong, as their owners read it. It is written with the answers, in ``recording``."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.errors import BadOption
from referee.store.paging import Cursor, Page, check_limit
from referee.store.schema import Fault, Group, Match


def list_faults(session: Session, bot_id: str, *, limit: int = 50, cursor: Cursor | None = None) -> Page[Fault]:
    """The faults of a bot, the latest first, of matches whose deal group is over: before that nobody reads them."""
    check_limit(limit)
    query = (
        select(Fault)
        .join(Match, Match.id == Fault.match_id)
        .join(Group, Group.id == Match.group_id)
        .where(Fault.bot_id == bot_id, Group.state == "over")
    )
    if cursor is not None:
        query = query.where(Fault.id < _number(cursor))
    rows = list(session.scalars(query.order_by(Fault.id.desc()).limit(limit + 1)))
    return Page(rows[:limit], [rows[limit - 1].id] if len(rows) > limit else None)


def _number(cursor: Cursor) -> int:
    match list(cursor):
        case [int(number)]:
            return number
    raise BadOption("cursor", "is not one that a page gave")
