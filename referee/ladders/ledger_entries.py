"""Read the ledger of a ladder as rows in order, which are sufficient to recompute the ladder.

The rows are read in pages, each in a separate short transaction. ``ledger_csv`` writes them as a table.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from sqlalchemy import or_, select

from referee.db.engine import Database
from referee.ladders.kinds import EntryKind
from referee.ladders.tables import LedgerEntry, RatingChange
from referee.matches.download_seats import DownloadSeat, seats_of
from referee.matches.tables import Result, StoredMatch

ENTRIES_PER_QUERY: Final = 200
CHANGES_PER_QUERY: Final = 2_000  # limited as well, because a void or a repair may cause any number of changes


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """Represent a row of a ledger entry.

    A result has a row for each seat. Other entries have a row for each bot whose rating changed, or a single row
    without a bot. Ratings are in micro-points, or None if the entry does not affect the bot.
    """

    entry: int
    kind: EntryKind
    rating_rules: int
    entered_at: datetime
    match_id: str | None
    reason: str | None  # of the entry itself; ``seat`` has the reason why a result does not count
    bot: str | None
    seat: DownloadSeat | None
    before_micro: int | None
    after_micro: int | None
    games: int | None  # number of the bot's matches that count after the entry
    balance_micro: int | None  # of an anchor, after the entry; 0 for other bots


@dataclass(frozen=True, slots=True)
class _Entry:
    """Hold a ledger entry and, for a result, the ``seats`` of its match."""

    entry: LedgerEntry
    seats: list[DownloadSeat]

    def row(self, bot: str | None, seat: DownloadSeat | None, change: RatingChange | None) -> LedgerRow:
        entry = self.entry
        of_entry = entry.seq, entry.kind, entry.rating_rules, entry.created_at, entry.match_id, entry.reason
        moved = (
            (None, None, None, None) if change is None else (change.before, change.after, change.games, change.balance)
        )
        return LedgerRow(*of_entry, bot, seat, *moved)


def ledger_rows(database: Database, ladder_id: str, after: int, until: int) -> Iterator[LedgerRow]:
    """Yield the rows of all ledger entries of a ladder with ``after`` < number <= ``until``, in order."""
    while page := _entries(database, ladder_id, after, until):
        changes = groupby(_changes(database, [entry.entry.seq for entry in page]), key=lambda change: change.seq)
        moving, moved = next(changes, (None, iter(())))
        for entry in page:
            if entry.entry.seq == moving:
                yield from _rows(entry, moved)
                moving, moved = next(changes, (None, iter(())))
            else:
                yield from _rows(entry, ())
        after = page[-1].entry.seq


def _entries(database: Database, ladder_id: str, after: int, until: int) -> list[_Entry]:
    query = select(LedgerEntry, Result, StoredMatch).outerjoin(Result, Result.match_id == LedgerEntry.match_id)
    query = query.outerjoin(StoredMatch, StoredMatch.id == LedgerEntry.match_id).where(
        LedgerEntry.ladder_id == ladder_id
    )
    query = (
        query.where(LedgerEntry.seq > after, LedgerEntry.seq <= until)
        .order_by(LedgerEntry.seq)
        .limit(ENTRIES_PER_QUERY)
    )
    with database.read() as session:
        page = [(act, result, match) for act, result, match in session.execute(query)]
        played = [(result, match) for act, result, match in page if act.kind == EntryKind.RESULT and result is not None]
        by_match = {id: list(seats) for id, seats in groupby(seats_of(session, played), key=lambda seat: seat.match_id)}
    return [
        _Entry(act, by_match.get(str(act.match_id), []) if act.kind == EntryKind.RESULT else []) for act, _, _ in page
    ]


def _changes(database: Database, seqs: Sequence[int]) -> Iterator[RatingChange]:
    """Yield the rating changes of these entries, ordered by entry and bot."""
    seq, bot_id = 0, ""
    while True:
        query = select(RatingChange).where(RatingChange.seq.in_([number for number in seqs if number >= seq]))
        query = query.where(or_(RatingChange.seq > seq, RatingChange.bot_id > bot_id))
        with database.read() as session:
            changes = session.scalars(
                query.order_by(RatingChange.seq, RatingChange.bot_id).limit(CHANGES_PER_QUERY)
            ).all()
        yield from changes
        if len(changes) < CHANGES_PER_QUERY:
            return
        seq, bot_id = changes[-1].seq, changes[-1].bot_id


def _rows(entry: _Entry, changes: Iterable[RatingChange]) -> Iterator[LedgerRow]:
    if entry.seats:
        moved = {change.bot_id: change for change in changes}
        yield from (entry.row(seat.bot, seat, moved.get(seat.bot)) for seat in entry.seats)
        return
    bare = True
    for change in changes:
        yield entry.row(change.bot_id, None, change)
        bare = False
    if bare:
        yield entry.row(None, None, None)
