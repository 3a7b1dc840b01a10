"""What became of bots on a ladder lately: their last ratings, placements and faults, for all bots of a page at once."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session, aliased

from referee.ladders.tables import LedgerEntry, Rating, RatingChange
from referee.matches.tables import MatchSeat

LAST: Final = 30  # changes of a rating


@dataclass(frozen=True, slots=True)
class Placed:
    """A match of a bot, and its place there."""

    match_id: str
    placement: int


@dataclass(frozen=True, slots=True)
class Trend:
    """The last changes of a bot. ``values`` are from the oldest on, with the one before them; ``placed`` the newest
    matches that still count, the latest first; ``faults`` those in them; ``version`` the bot's in the latest."""

    values: list[int]
    placed: list[Placed]
    faults: int
    version: str | None


def trends(
    session: Session, ladder_id: str, bot_ids: Sequence[str], *, up_to: int | None = None, last: int = LAST
) -> dict[str, Trend]:
    """By bot, as of the act ``up_to``; bots that never moved are left out. One query, however many bots."""
    changes: defaultdict[str, list[Any]] = defaultdict(list)
    for row in session.execute(_changes(ladder_id, bot_ids, up_to, last)) if bot_ids else ():
        changes[row.bot_id].append(row)
    return {bot_id: _trend(rows) for bot_id, rows in changes.items()}


def _trend(rows: Sequence[Any]) -> Trend:
    voided = {row.match_id for row in rows if row.kind == "void"}
    counting = [row for row in rows if row.kind == "result" and row.match_id not in voided]
    placed = [Placed(row.match_id, row.placement) for row in counting if row.placement is not None]
    values = [rows[-1].before, *(row.after for row in reversed(rows))]
    faults = sum(row.faults or 0 for row in counting)
    return Trend(values, placed, faults, counting[0].version if counting else None)


def _changes(
    ladder_id: str, bot_ids: Sequence[str], up_to: int | None, last: int
) -> Select[str, int, int, str, str | None, int | None, int, str | None]:
    """The last changes of each, the latest first: of each bot the end of its own stretch of the index is read."""
    earlier = aliased(RatingChange)
    own = select(earlier.seq).where(earlier.ladder_id == Rating.ladder_id, earlier.bot_id == Rating.bot_id)
    if up_to is not None:
        own = own.where(earlier.seq <= up_to)
    begin = own.order_by(earlier.seq.desc()).limit(1).offset(last - 1).correlate(Rating).scalar_subquery()
    ends = select(Rating.bot_id, func.coalesce(begin, 0).label("begin")).where(Rating.ladder_id == ladder_id)
    # The limit leaves nobody out: it keeps SQLite from looking through all changes of each bot first.
    end = ends.where(Rating.bot_id.in_(bot_ids)).limit(len(bot_ids)).subquery()
    change = RatingChange
    of_change = change.bot_id, change.before, change.after
    query = select(*of_change, LedgerEntry.kind, LedgerEntry.match_id, *_OF_SEAT).select_from(end)
    since = and_(change.ladder_id == ladder_id, change.bot_id == end.c.bot_id, change.seq >= end.c.begin)
    # Said so that SQLite seeks the match: else it looks, for every change, through all matches of the bot.
    seat = and_(MatchSeat.match_id == LedgerEntry.match_id, MatchSeat.bot_id.concat("") == change.bot_id)
    query = query.join(change, since).join(LedgerEntry, LedgerEntry.seq == change.seq).outerjoin(MatchSeat, seat)
    if up_to is not None:
        query = query.where(change.seq <= up_to)
    return query.order_by(change.seq.desc())


_OF_SEAT: Final = (MatchSeat.placement, MatchSeat.faults, MatchSeat.version)
