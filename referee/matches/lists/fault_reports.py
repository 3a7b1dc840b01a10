"""Read fault reports. ``recording`` writes them together with the answers.

A report contains only what the bot received and sent, so its owner may read it immediately. Others must wait until the
deal group is closed, as for the log.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, defer

from referee.bots.tables import Bot
from referee.db.paging import Cursor, Page, load_page
from referee.errors import LogDeleted, NotFound
from referee.match.log import parse_row
from referee.matches.logs import logs
from referee.matches.states import DealGroupState
from referee.matches.tables import DealGroup, Fault, MatchSeat, ReportedError, StoredMatch
from referee.matches.usual_states import is_revealed

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReportedFault:
    """Hold a fault, with the version and address that the bot had when the match started.

    Lists do not load the request and the reply of ``fault``.
    """

    fault: Fault
    version: str | None
    url: str | None
    owner_id: str


def list_codes(session: Session, match_id: str) -> set[str]:
    """Return the codes of the faults in a match."""
    return set(session.scalars(select(Fault.code).where(Fault.match_id == match_id).distinct()))


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
) -> Page[ReportedFault]:
    """Return a page of the faults that pass these filters, latest first.

    Raise ``BadOption`` for an invalid limit or cursor. With ``owner_id``, return all faults of this owner's bots;
    without it, only those of closed deal groups.
    """
    query = _fault_query().options(defer(Fault.request), defer(Fault.reply))
    if owner_id is None:
        query = query.where(is_revealed())
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
    page = load_page(session, query, Fault.id.desc(), limit=limit, cursor=cursor)
    return Page([ReportedFault(*row) for row in page.items], page.next)


@dataclass(frozen=True, slots=True)
class VersionedError:
    """Hold the errors of a bot's own code in a match, and the version that the bot had when the match started."""

    reported: ReportedError
    version: str | None


def list_errors(
    session: Session, bot_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[VersionedError]:
    """Return a page of the matches in which a bot reported errors of its own code, latest match first.

    Raise ``BadOption`` for an invalid limit or cursor.
    """
    query = (
        select(ReportedError, MatchSeat.version)
        .join(MatchSeat, (MatchSeat.match_id == ReportedError.match_id) & (MatchSeat.seat == ReportedError.seat))
        .join(StoredMatch, StoredMatch.id == ReportedError.match_id)
        .where(ReportedError.bot_id == bot_id)
    )
    order = StoredMatch.created_at.desc(), StoredMatch.id.desc(), ReportedError.seat
    page = load_page(session, query, *order, limit=limit, cursor=cursor)
    return Page([VersionedError(*row) for row in page.items], page.next)


def get_fault(session: Session, fault_id: int, viewer_id: str, *, judges: bool = False) -> ReportedFault:
    """Return a fault if the viewer owns the bot, or if the viewer ``judges`` and the deal group is closed.

    Raise ``NotFound`` otherwise.
    """
    row = session.execute(_fault_query().add_columns(DealGroup.state).where(Fault.id == fault_id)).one_or_none()
    if row is None or not (row.owner_id == viewer_id or (judges and row.state == DealGroupState.REVEALED)):
        raise NotFound("fault", str(fault_id))
    return ReportedFault(row[0], row.version, row.url, row.owner_id)


def find_replacement_action(session: Session, fault: Fault) -> Json | None:
    """Return the action that was played instead of the faulty answer.

    Return None if no decision was recorded, for example while answers of other seats are pending, or if the log was
    deleted.
    """
    mark = b'"type":"decision"'
    try:
        lines = logs.log_lines(session, fault.match_id)
    except LogDeleted:
        return None
    for line in reversed(lines):
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
        .join(StoredMatch, StoredMatch.id == Fault.match_id)
        .join(DealGroup, DealGroup.id == StoredMatch.group_id)
    )
