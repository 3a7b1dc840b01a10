"""Write the ledger of a ladder as CSV, and store parts of it, so that a download computes only its latest rows.

An entry never changes, but rows of a result have the status of its match: a void discards the part with the result,
and a repair discards all parts of its ladder, in their transactions. Both also increment ``Ladder.rows_changed``, so
that rows computed before a change are not stored after it. Parts of another version of the program are not used,
because it may have written other columns. Where a part is missing, its rows are computed.
"""

import gzip
import io
from collections.abc import Iterator
from itertools import islice
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

import referee
from referee.csv_table import Cells, cell, write_table
from referee.db.engine import Database
from referee.ladders import ledger
from referee.ladders.ledger_entries import LedgerRow, ledger_rows
from referee.ladders.tables import Ladder, LedgerEntry, LedgerPart
from referee.matches.lists.download_seats import SEAT_COLUMNS, seat_cells

ENTRIES_PER_PART: Final = 500
ROWS_A_PIECE: Final = 500
BYTES_A_PIECE: Final = 65_536
ENTERED: Final = ("entry", "kind", "rating_rules", "entered_at")
MOVED: Final = ("before_micro", "after_micro", "games", "balance_micro")


def ledger_csv(database: Database, ladder_id: str, until: int) -> Iterator[bytes]:
    """Yield the ledger of a ladder up to entry ``until`` as a CSV table, which includes the columns of results.

    Each piece is read in its own short transaction.
    """
    yield from write_table([[[*ENTERED, *SEAT_COLUMNS, *MOVED]]])
    after = 0
    while part := _load_part(database, ladder_id, after, until):
        if part.after_seq > after:
            yield from _compute_csv(database, ladder_id, after, part.after_seq)
        with gzip.GzipFile(fileobj=io.BytesIO(part.gzip_csv)) as rows:
            yield from iter(lambda: rows.read(BYTES_A_PIECE), b"")
        after = part.last_seq
    yield from _compute_csv(database, ladder_id, after, until)


def list_changed_ladders(session: Session, seq: int) -> list[str]:
    """Return the ids of ladders with entries after ``seq``."""
    return list(session.scalars(select(LedgerEntry.ladder_id).where(LedgerEntry.seq > seq).distinct()))


def delete_other_versions(session: Session) -> None:
    """Delete the parts of other versions of the program. A scheduler of such a version may still store new ones."""
    session.execute(delete(LedgerPart).where(LedgerPart.program_version != referee.__version__))


def store_next_part(database: Database, ladder_id: str) -> bool:
    """Store the first part of the ledger that is missing. Return False if none is missing.

    The latest entries, fewer than ``ENTRIES_PER_PART``, are no part yet. Nothing is stored if a void or a repair
    changed rows of the ladder meanwhile, or if another scheduler was faster.
    """
    rows_changed = select(Ladder.rows_changed).where(Ladder.id == ladder_id)
    with database.read() as session:
        before = session.scalar(rows_changed)  # read first, so that any later change is noticed
        missing = _find_missing_part(session, ladder_id)
    if missing is None:
        return False
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as rows:
        rows.writelines(_compute_csv(database, ladder_id, *missing))
    key = {"ladder_id": ladder_id, "after_seq": missing[0], "last_seq": missing[1]}
    with database.write(durable=False) as session:
        ledger.lock_ledger(session)  # wait for voids and repairs that are not committed yet
        if session.scalar(rows_changed) == before and _find_missing_part(session, ladder_id) == missing:
            session.add(LedgerPart(**key, program_version=referee.__version__, gzip_csv=packed.getvalue()))
    return True


def _load_part(database: Database, ladder_id: str, after: int, until: int) -> LedgerPart | None:
    query = select(LedgerPart).where(LedgerPart.ladder_id == ladder_id, LedgerPart.after_seq >= after)
    query = query.where(LedgerPart.last_seq <= until, LedgerPart.program_version == referee.__version__)
    with database.read() as session:
        return session.scalar(query.order_by(LedgerPart.after_seq).limit(1))


def _find_missing_part(session: Session, ladder_id: str) -> tuple[int, int] | None:
    """Return the entry before and the last entry of the first part that is missing, or None."""
    stored = select(LedgerPart.after_seq, LedgerPart.last_seq).where(LedgerPart.ladder_id == ladder_id)
    stored = stored.where(LedgerPart.program_version == referee.__version__).order_by(LedgerPart.after_seq)
    after, end = 0, None
    for after_seq, last_seq in session.execute(stored):
        if after_seq > after:
            end = after_seq
            break
        after = last_seq
    entries = select(LedgerEntry.seq).where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.seq > after)
    full = session.scalar(entries.order_by(LedgerEntry.seq).offset(ENTRIES_PER_PART - 1).limit(1))
    last = min((seq for seq in (full, end) if seq is not None), default=None)
    return None if last is None else (after, last)


def _compute_csv(database: Database, ladder_id: str, after: int, until: int) -> Iterator[bytes]:
    rows = map(_cells_of, ledger_rows(database, ladder_id, after, until))
    return write_table(iter(lambda: list(islice(rows, ROWS_A_PIECE)), []))


def _cells_of(row: LedgerRow) -> Cells:
    entered, moved = ([cell(getattr(row, name)) for name in names] for names in (ENTERED, MOVED))
    named = {"match": row.match_id, "reason": cell(row.reason), "bot": row.bot}
    of_seat = [named.get(column) for column in SEAT_COLUMNS] if row.seat is None else seat_cells(row.seat)
    return (*entered, *of_seat, *moved)
