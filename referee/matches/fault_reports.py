"""The evidence of what bots did wrong, as their owners read it. It is written with the answers, in ``recording``.

A request holds what its seat saw and its bot was sent, so its owner may read it at once; anybody else waits until the
deal group is over, as for the log.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, defer

from referee.bots.tables import Bot
from referee.db.paging import Cursor, Page, check_limit, number_of
from referee.errors import NotFound
from referee.match.log import parse_row
from referee.matches import logs
from referee.matches.tables import DealGroup, Fault, Match, MatchSeat

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """A fault, with version and address of its bot as they were when the match began. In lists the ``fault`` has its
    request and reply unread."""

    fault: Fault
    version: str | None
    url: str | None
    owner_id: str


def list_faults(
    session: Session,
    *,
    bot_id: str | None = None,
    match_id: str | None = None,
    owner_id: str | None = None,
    code: str | None = None,
    version: str | None = None,
    limit: int = 50,
    cursor: Cursor | None = None,
) -> Page[Told]:
    """Faults by these filters, the latest first. Without ``owner_id`` only those of deal groups that are over; with it
    those of this owner's bots, at once. Raises ``BadOption`` for a bad limit or cursor."""
    check_limit(limit)
    query = _fault_query().options(defer(Fault.request), defer(Fault.reply))
    if owner_id is None:
        query = query.where(DealGroup.state == "over")
    filters = (
        (Bot.owner_id, owner_id),
        (Fault.bot_id, bot_id),
        (Fault.match_id, match_id),
        (Fault.code, code),
        (MatchSeat.version, version),
    )
    for column, wanted in filters:
        if wanted is not None:
            query = query.where(column == wanted)
    if cursor is not None:
        query = query.where(Fault.id < number_of(cursor))
    found = session.execute(query.order_by(Fault.id.desc()).limit(limit + 1))
    told = [Told(*row) for row in found]
    return Page(told[:limit], [told[limit - 1].fault.id] if len(told) > limit else None)


def get_fault(session: Session, fault_id: int, viewer_id: str, *, judges: bool = False) -> Told:
    """A fault of a bot of one's own; whoever ``judges`` reads any other's when its deal group is over. Else
    ``NotFound``."""
    row = session.execute(_fault_query().add_columns(DealGroup.state).where(Fault.id == fault_id)).one_or_none()
    if row is None or not (row.owner_id == viewer_id or (judges and row.state == "over")):
        raise NotFound("fault", str(fault_id))
    return Told(row[0], row.version, row.url, row.owner_id)


def played_instead(session: Session, fault: Fault) -> Json | None:
    """The action the log has in place of an answer; None while rivals still owe theirs."""
    mark = b'"type":"decision"'
    for line in reversed(logs.log_lines(session, fault.match_id)):
        if mark in line:
            row = parse_row(line)
            if (row["n"], row["seat"]) == (fault.n, fault.seat):
                action: Json = row["action"]
                return action
    return None


def _fault_query() -> Select[Fault, str | None, str | None, str]:
    return (
        select(Fault, MatchSeat.version, MatchSeat.url, Bot.owner_id)
        .join(MatchSeat, (MatchSeat.match_id == Fault.match_id) & (MatchSeat.seat == Fault.seat))
        .join(Bot, Bot.id == Fault.bot_id)
        .join(Match, Match.id == Fault.match_id)
        .join(DealGroup, DealGroup.id == Match.group_id)
    )
