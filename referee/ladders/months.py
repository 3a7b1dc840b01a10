"""Keep the final standings of each month of a ladder, in UTC, with its champion.

They follow from the ledger: they are the ratings after the last entry that was made in the month, so it does not matter
how late they are stored. Names, owners and errors are those of the time when they are stored. Nothing changes them
later: a result that is voided after the end of its month changes only the ladder.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, func, insert, select
from sqlalchemy.orm import Session, aliased

from referee.db.engine import Database, current_time, take_advisory_lock
from referee.db.paging import MAX_PAGE_SIZE, Cursor, Page, load_page
from referee.errors import NotFound
from referee.ladders import ratings
from referee.ladders.kinds import EntryKind
from referee.ladders.ladder_rows import load_rows
from referee.ladders.tables import Ladder, LadderMonth, LedgerEntry, MonthRow, RatingChange
from referee.ratings.elo import PROVISIONAL_GAMES
from referee.timestamps import format_month

GRACE: Final = timedelta(minutes=10)  # from the end of a month until it is closed, for entries that are being written
MIN_CHAMPION_MATCHES: Final = 10  # of the month; the champion's rating must not be provisional either
MAX_ROWS: Final = 10_000  # bots of a month that are kept, best first
_KEPT: Final = (  # of a row of the ladder
    *("rank", "bot_id", "name", "value", "games", "owner_id", "owner_name", "error"),
)


@dataclass(frozen=True, slots=True)
class ClosedMonth:
    """Describe a closed month of a ladder, and its champion if there is one."""

    ladder: Ladder
    month: LadderMonth
    champion: MonthRow | None

    @property
    def name(self) -> str:
        """Return the month as in addresses: ``2026-11``."""
        return format_month(self.month.month)


def following(month: date) -> date:
    """Return the first day of the next month."""
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)


# -- closing --


def list_open_months(session: Session) -> list[tuple[str, date]]:
    """Return for each ladder the earliest month that is over and not closed, if it has one with results.

    A ladder that is frozen is left out until it is repaired.
    """
    now = current_time(session)
    found = []
    for ladder_id in session.scalars(select(Ladder.id).where(Ladder.frozen_reason.is_(None)).order_by(Ladder.id)):
        last = _last_closed(session, ladder_id)
        begun = select(LedgerEntry.created_at).where(
            LedgerEntry.ladder_id == ladder_id,
            LedgerEntry.kind == EntryKind.RESULT,
            LedgerEntry.seq > (last.as_of_seq if last else 0),
        )
        first = session.scalar(begun.order_by(LedgerEntry.seq).limit(1))
        if first is None:
            continue
        month = first.date().replace(day=1)
        if last is not None:  # an entry may have been made in a month that is closed, if the clock was set back
            month = max(month, following(last.month))
        if _end_of(month) + GRACE <= now:
            found.append((ladder_id, month))
    return found


def close_month(database: Database, ladder_id: str, month: date) -> bool:
    """Store the final standings of a month that is over. Return False if they are stored already.

    The standings are read before the write lock is taken.
    """
    with database.read() as session:
        last = _last_closed(session, ladder_id)
        before = last.as_of_seq if last else 0
        as_of = _last_entry_before(session, ladder_id, _end_of(month))
        bots = 0
        rows: list[dict[str, Any]] = []
        for part in _standings_at(session, ladder_id, as_of, before):
            bots += len(part)
            rows += [{"ladder_id": ladder_id, "month": month, **row} for row in part if len(rows) < MAX_ROWS]
        played = select(func.count()).select_from(LedgerEntry).where(*_counts(ladder_id, before, as_of))
        matches = session.scalars(played).one()
    champion = choose_champion(rows)
    with database.write() as session:
        take_advisory_lock(session, "ladders")  # so that two schedulers do not close a month twice
        if session.get(LadderMonth, (ladder_id, month)) is not None:
            return False
        summary = {"ladder_id": ladder_id, "month": month, "as_of_seq": as_of, "bots": bots, "matches": matches}
        session.execute(insert(LadderMonth), [{**summary, "champion_id": champion, "closed_at": current_time(session)}])
        if rows:
            session.execute(insert(MonthRow), rows)
    return True


def choose_champion(rows: Sequence[dict[str, Any]]) -> str | None:
    """Return the id of the best bot among ``rows``, best first, that may be champion, or None if none may.

    A champion has played ``MIN_CHAMPION_MATCHES`` in the month, and its rating is no longer provisional. If ratings are
    equal, more matches in the month decide, then the id.
    """
    able = [row for row in rows if row["matches"] >= MIN_CHAMPION_MATCHES and row["games"] >= PROVISIONAL_GAMES]
    best = min(able, key=lambda row: (row["rank"], -row["matches"], row["bot_id"]), default=None)
    return None if best is None else str(best["bot_id"])


def _standings_at(session: Session, ladder_id: str, as_of: int, before: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of the ladder after entry ``as_of`` in parts, with the matches since entry ``before``."""
    cursor: Cursor | None = None
    while True:
        page = load_rows(session, ladder_id, as_of=as_of, limit=MAX_PAGE_SIZE, cursor=cursor).page
        matches = _matches_between(session, ladder_id, [row.bot_id for row in page.items], before, as_of)
        yield [
            {**{name: getattr(row, name) for name in _KEPT}, "matches": matches.get(row.bot_id, 0)}
            for row in page.items
        ]
        cursor = page.next
        if cursor is None:
            return


def _matches_between(
    session: Session, ladder_id: str, bot_ids: Sequence[str], before: int, as_of: int
) -> dict[str, int]:
    """Return the matches of these bots that ``_counts``, keyed by bot id. Omit bots without any."""
    query = select(RatingChange.bot_id, func.count()).join(LedgerEntry, LedgerEntry.seq == RatingChange.seq)
    query = query.where(RatingChange.ladder_id == ladder_id, RatingChange.bot_id.in_(bot_ids))
    query = query.where(*_counts(ladder_id, before, as_of)).group_by(RatingChange.bot_id)
    return dict(session.execute(query).all()) if bot_ids else {}


def _counts(ladder_id: str, before: int, as_of: int) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for results after entry ``before`` that were not voided up to entry ``as_of``."""
    void = aliased(LedgerEntry)
    voided = select(void.seq).where(void.match_id == LedgerEntry.match_id, void.kind == EntryKind.VOID)
    within = LedgerEntry.seq > before, LedgerEntry.seq <= as_of, ~voided.where(void.seq <= as_of).exists()
    return LedgerEntry.ladder_id == ladder_id, LedgerEntry.kind == EntryKind.RESULT, *within


def _last_closed(session: Session, ladder_id: str) -> LadderMonth | None:
    query = select(LadderMonth).where(LadderMonth.ladder_id == ladder_id)
    return session.scalar(query.order_by(LadderMonth.month.desc()).limit(1))


def _last_entry_before(session: Session, ladder_id: str, end: datetime) -> int:
    query = select(LedgerEntry.seq).where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.created_at < end)
    return session.scalar(query.order_by(LedgerEntry.seq.desc()).limit(1)) or 0


def _end_of(month: date) -> datetime:
    return datetime.combine(following(month), datetime.min.time(), UTC)


# -- reading --


def list_months(
    session: Session, ladder_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[ClosedMonth]:
    """Return a page of the closed months of a ladder, newest first."""
    ladder = ratings.get_ladder(session, ladder_id)
    query = _with_champions().where(LadderMonth.ladder_id == ladder_id)
    page = load_page(session, query, LadderMonth.month.desc(), limit=limit, cursor=cursor)
    return Page([ClosedMonth(ladder, month, champion) for month, champion in page.items], page.next)


def get_month(session: Session, ladder_id: str, month: date) -> ClosedMonth:
    """Return a closed month. Raise ``NotFound`` if the month is not over, or if the ladder had no result in it."""
    ladder = ratings.get_ladder(session, ladder_id)
    query = _with_champions().where(LadderMonth.ladder_id == ladder_id, LadderMonth.month == month)
    found = session.execute(query).one_or_none()
    if found is None:
        raise NotFound("month", format_month(month))
    return ClosedMonth(ladder, *found)


def list_rows(
    session: Session, closed: LadderMonth, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[MonthRow]:
    """Return a page of the final standings of a month, best first."""
    query = select(MonthRow).where(MonthRow.ladder_id == closed.ladder_id, MonthRow.month == closed.month)
    return load_page(session, query, MonthRow.rank, MonthRow.bot_id, limit=limit, cursor=cursor)


def list_titles(session: Session, bot_id: str, *, limit: int) -> list[ClosedMonth]:
    """Return the last ``limit`` months of which this bot is the champion, newest first."""
    query = _with_ladders().where(LadderMonth.champion_id == bot_id)
    found = session.execute(query.order_by(LadderMonth.month.desc(), Ladder.name).limit(limit))
    return [ClosedMonth(*title) for title in found]


def list_newest_champions(session: Session, *, limit: int) -> list[ClosedMonth]:
    """Return the champions of the listed official ladders in the newest month that has any, by name of the ladder."""
    has_champion = and_(Ladder.official, ~Ladder.unlisted, LadderMonth.champion_id.is_not(None))
    newest = select(func.max(LadderMonth.month)).join(Ladder, Ladder.id == LadderMonth.ladder_id).where(has_champion)
    query = _with_ladders().where(has_champion, LadderMonth.month == newest.scalar_subquery())
    return [ClosedMonth(*found) for found in session.execute(query.order_by(Ladder.name).limit(limit))]


def _with_champions() -> Any:
    """Return a query of closed months, each with the row of its champion, None without one."""
    return select(LadderMonth, MonthRow).outerjoin(MonthRow, _IS_CHAMPION)


def _with_ladders() -> Any:
    """Return a query of the fields of ``ClosedMonth``."""
    months_of = select(Ladder, LadderMonth, MonthRow).join(LadderMonth, LadderMonth.ladder_id == Ladder.id)
    return months_of.outerjoin(MonthRow, _IS_CHAMPION)


_IS_CHAMPION: Final = and_(
    MonthRow.ladder_id == LadderMonth.ladder_id,
    MonthRow.month == LadderMonth.month,
    MonthRow.bot_id == LadderMonth.champion_id,
)
