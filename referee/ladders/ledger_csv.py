"""Write the ledger of a ladder as CSV, which is sufficient to recompute the ladder.

A result has a row for each seat. Other entries have a row for each bot whose rating changed, or a single row without a
bot. Ratings are in micro-points, and empty where the entry does not affect the bot.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sqlalchemy import select

from referee.csv_table import Cells, cell, write_table
from referee.db.engine import Database
from referee.ladders.kinds import EntryKind
from referee.ladders.tables import LedgerEntry, RatingChange
from referee.matches.lists.download_seats import SEAT_COLUMNS, SeatRow, seat_cells, seats_of
from referee.matches.tables import Result, StoredMatch

ENTRIES_PER_QUERY: Final = 200
ENTERED: Final = ("entry", "kind", "rating_rules", "entered_at")
MOVED: Final = ("before_micro", "after_micro", "games", "balance_micro", "information_micro")


def ledger_csv(database: Database, ladder_id: str, until: int) -> Iterator[bytes]:
    """Yield the ledger of a ladder up to entry ``until`` as a CSV table, which includes the columns of results."""
    yield from write_table([[[*ENTERED, *SEAT_COLUMNS, *MOVED]]])
    yield from write_table(_load_pages(database, ladder_id, until))


def _load_pages(database: Database, ladder_id: str, until: int) -> Iterator[list[Cells]]:
    """Yield the rows in order, a page at a time, each read in its own short transaction."""
    query = select(LedgerEntry, Result, StoredMatch).outerjoin(Result, Result.match_id == LedgerEntry.match_id)
    query = query.outerjoin(StoredMatch, StoredMatch.id == LedgerEntry.match_id)
    query = query.where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.seq <= until).order_by(LedgerEntry.seq)
    after = 0
    while True:
        with database.read() as session:
            page = session.execute(query.where(LedgerEntry.seq > after).limit(ENTRIES_PER_QUERY)).all()
            seqs = [entry.seq for entry, *_ in page]
            changes: defaultdict[int, dict[str, RatingChange]] = defaultdict(dict)
            for change in session.scalars(select(RatingChange).where(RatingChange.seq.in_(seqs))):
                changes[change.seq][change.bot_id] = change
            played = [(result, match) for entry, result, match in page if entry.kind == EntryKind.RESULT and result]
            seats: defaultdict[str | None, list[SeatRow]] = defaultdict(list)
            for seat in seats_of(session, played):
                seats[seat["match"]].append(seat)
        if not page:
            return
        after = seqs[-1]
        yield [
            row
            for entry, *_ in page
            for row in _rows_of(
                entry, changes[entry.seq], seats[entry.match_id] if entry.kind == EntryKind.RESULT else ()
            )
        ]


def _rows_of(entry: LedgerEntry, changes: Mapping[str, RatingChange], seats: Sequence[SeatRow]) -> Iterator[Cells]:
    blank = {"match": entry.match_id, "reason": entry.reason}  # a result has the reason why it does not count
    for seat in seats or [{**blank, "bot": bot} for bot in sorted(changes)] or [blank]:
        change = changes.get(str(seat.get("bot")))
        facts = [entry.seq, entry.kind, entry.rating_rules, cell(entry.created_at), *seat_cells(seat)]
        if change is None:
            yield [*facts, *(None for _ in MOVED)]
        else:
            yield [*facts, change.before, change.after, change.games, change.balance, change.information]
