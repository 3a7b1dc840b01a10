"""Read the ledger of a ladder as rows in order, which are sufficient to recompute the ladder.

The rows are read in pages, each in a separate short transaction. ``ledger_csv`` writes them as a table.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from sqlalchemy import select

from referee.db.engine import Database
from referee.ladders.kinds import EntryKind
from referee.ladders.tables import LedgerEntry, RatingChange
from referee.matches.lists.download_seats import DownloadSeat, seats_of
from referee.matches.tables import Result, StoredMatch

ENTRIES_PER_QUERY: Final = 200


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
    """Hold a ledger entry, the rating changes by it, keyed by bot id, and, for a result, the ``seats`` of its match."""

    entry: LedgerEntry
    changes: dict[str, RatingChange]
    seats: list[DownloadSeat]

    def rows(self) -> Iterator[LedgerRow]:
        yield from (self._row(seat.bot, seat) for seat in self.seats)
        if not self.seats:
            yield from (self._row(bot, None) for bot in sorted(self.changes))
        if not self.seats and not self.changes:
            yield self._row(None, None)

    def _row(self, bot: str | None, seat: DownloadSeat | None) -> LedgerRow:
        entry, change = self.entry, self.changes.get(str(bot))
        of_entry = entry.seq, entry.kind, entry.rating_rules, entry.created_at, entry.match_id, entry.reason
        moved = (
            (None, None, None, None) if change is None else (change.before, change.after, change.games, change.balance)
        )
        return LedgerRow(*of_entry, bot, seat, *moved)


def ledger_rows(database: Database, ladder_id: str, after: int, until: int) -> Iterator[LedgerRow]:
    """Yield the rows of all ledger entries of a ladder with ``after`` < number <= ``until``, in order."""
    while page := _load_page(database, ladder_id, after, until):
        for entry in page:
            yield from entry.rows()
        after = page[-1].entry.seq


def _load_page(database: Database, ladder_id: str, after: int, until: int) -> list[_Entry]:
    query = select(LedgerEntry, Result, StoredMatch).outerjoin(Result, Result.match_id == LedgerEntry.match_id)
    query = query.outerjoin(StoredMatch, StoredMatch.id == LedgerEntry.match_id)
    query = query.where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.seq > after, LedgerEntry.seq <= until)
    with database.read() as session:
        page = session.execute(query.order_by(LedgerEntry.seq).limit(ENTRIES_PER_QUERY)).all()
        changes: defaultdict[int, dict[str, RatingChange]] = defaultdict(dict)
        for change in session.scalars(
            select(RatingChange).where(RatingChange.seq.in_([entry.seq for entry, *_ in page]))
        ):
            changes[change.seq][change.bot_id] = change
        played = [(result, match) for entry, result, match in page if entry.kind == EntryKind.RESULT and result]
        seats = {id: list(seats) for id, seats in groupby(seats_of(session, played), key=lambda seat: seat.match_id)}
    return [
        _Entry(entry, changes[entry.seq], seats.get(entry.match_id, []) if entry.kind == EntryKind.RESULT else [])
        for entry, *_ in page
    ]
