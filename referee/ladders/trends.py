"""Load recent ratings, placements and faults of bots on a ladder, in one query for a page of bots."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, and_, func, select
from sqlalchemy.orm import Session, aliased

from referee.ladders.kinds import EntryKind
from referee.ladders.tables import LedgerEntry, Rating, RatingChange
from referee.matches.tables import MatchSeat

MAX_CHANGES: Final = 30  # recent rating changes per bot


@dataclass(frozen=True, slots=True)
class RecentPlacement:
    """Hold a match of a bot and its placement in it."""

    match_id: str
    placement: int


@dataclass(frozen=True, slots=True)
class Trend:
    """Hold the last changes of a bot's rating.

    ``values`` has the ratings, oldest first, beginning with the rating before the first change. ``placements`` has the
    matches that still count, latest first. ``faults`` is the number of faults in these matches, and ``version`` is the
    bot's version in the latest one.
    """

    values: list[int]
    placements: list[RecentPlacement]
    faults: int
    version: str | None


def load_trends(
    session: Session, ladder_id: str, bot_ids: Sequence[str], *, up_to: int | None = None, last: int = MAX_CHANGES
) -> dict[str, Trend]:
    """Return trends, keyed by bot id, with up to ``last`` changes, none after entry ``up_to``.

    Omit bots without changes.
    """
    changes: defaultdict[str, list[Any]] = defaultdict(list)
    for row in session.execute(_changes_query(ladder_id, bot_ids, up_to, last)) if bot_ids else ():
        changes[row.bot_id].append(row)
    return {bot_id: _trend(rows) for bot_id, rows in changes.items()}


def _trend(rows: Sequence[Any]) -> Trend:
    voided = {row.match_id for row in rows if row.kind == EntryKind.VOID}
    counting = [row for row in rows if row.kind == EntryKind.RESULT and row.match_id not in voided]
    placed = [RecentPlacement(row.match_id, row.placement) for row in counting if row.placement is not None]
    values = [rows[-1].before, *(row.after for row in reversed(rows))]
    faults = sum(row.faults or 0 for row in counting)
    return Trend(values, placed, faults, counting[0].version if counting else None)


def _changes_query(
    ladder_id: str, bot_ids: Sequence[str], up_to: int | None, last: int
) -> Select[str, int, int, str, str | None, int | None, int, str | None]:
    """Return a query of the last changes of each bot, latest first. It reads only the end of each index range."""
    earlier = aliased(RatingChange)
    own = select(earlier.seq).where(earlier.ladder_id == Rating.ladder_id, earlier.bot_id == Rating.bot_id)
    if up_to is not None:
        own = own.where(earlier.seq <= up_to)
    begin = own.order_by(earlier.seq.desc()).limit(1).offset(last - 1).correlate(Rating).scalar_subquery()
    ends = select(Rating.bot_id, func.coalesce(begin, 0).label("begin")).where(Rating.ladder_id == ladder_id)
    # The limit excludes no bot; it keeps SQLite from scanning all changes of each bot first.
    end = ends.where(Rating.bot_id.in_(bot_ids)).limit(len(bot_ids)).subquery()
    change = RatingChange
    of_change = change.bot_id, change.before, change.after
    query = select(*of_change, LedgerEntry.kind, LedgerEntry.match_id, *_OF_SEAT).select_from(end)
    since = and_(change.ladder_id == ladder_id, change.bot_id == end.c.bot_id, change.seq >= end.c.begin)
    # The concatenation makes SQLite seek the match instead of scanning all matches of the bot for every change.
    seat = and_(MatchSeat.match_id == LedgerEntry.match_id, MatchSeat.bot_id.concat("") == change.bot_id)
    query = query.join(change, since).join(LedgerEntry, LedgerEntry.seq == change.seq).outerjoin(MatchSeat, seat)
    if up_to is not None:
        query = query.where(change.seq <= up_to)
    return query.order_by(change.seq.desc())


_OF_SEAT: Final = (MatchSeat.placement, MatchSeat.faults, MatchSeat.version)
