"""Generate downloads piece by piece while they are sent: bundles of logs, CSV tables.

Each piece is read in its own short transaction, so that neither memory nor locks grow with the file.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final, TypeVar

from referee.csv_table import Cells, cell, write_table
from referee.db.engine import Database
from referee.db.paging import MAX_PAGE_SIZE, Cursor, Page
from referee.errors import LogDeleted
from referee.ladders import months
from referee.ladders.tables import LadderMonth, MonthRow
from referee.match.kinds import LogRemark
from referee.match.log_bundle import pack_remark
from referee.matches.lists.download_seats import SEAT_COLUMNS, seat_cells
from referee.matches.states import MatchState
from referee.tournaments import result_seats
from referee.tournaments.result_seats import ResultFilter
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogEntry, LogList

Row = TypeVar("Row")


def gzip_logs(database: Database, found: LogList) -> Iterator[bytes]:
    """Yield a bundle: each log as stored, followed by a remark if its match does not count."""
    for entry, packed in _read_logs(database, found):
        if packed and entry.status == MatchState.FINISHED:
            yield packed
        else:
            remark = LogRemark.DAMAGED if packed is None else entry.status
            yield (packed or b"") + pack_remark(entry.match_id, remark, entry.reason)


def results_csv(database: Database, which: ResultFilter, until: int) -> Iterator[bytes]:
    """Yield a CSV table with a row for each seat. Names that look like formulas get an apostrophe."""
    return csv_of(SEAT_COLUMNS, _result_pieces(database, which, until))


def month_csv(database: Database, closed: LadderMonth) -> Iterator[bytes]:
    """Yield the final standings of a month as a CSV table."""
    return csv_of(MONTH_COLUMNS, cells_by_page(database, partial(months.list_rows, closed=closed), _month_cells))


def cells_by_page(
    database: Database, load: Callable[..., Page[Row]], cells_of: Callable[[Row], Cells]
) -> Iterator[Iterable[Cells]]:
    """Yield the cells of all rows of a list, a page at a time."""
    cursor: Cursor | None = None
    while True:
        with database.read() as session:
            page = load(session, limit=MAX_PAGE_SIZE, cursor=cursor)
        yield map(cells_of, page.items)
        cursor = page.next
        if cursor is None:
            return


def _month_cells(row: MonthRow) -> Cells:
    return (
        *(row.rank, row.bot_id, cell(row.name), row.owner_id, cell(row.owner_name)),
        *(row.value, None if row.error is None else round(row.error, 1), row.games, row.matches),
    )


def _result_pieces(database: Database, which: ResultFilter, until: int) -> Iterator[Iterable[Cells]]:
    after = 0
    while True:
        with database.read() as session:
            seats = result_seats.load_result_seats(session, which, after=after, until=until)
        if not seats:
            return
        yield map(seat_cells, seats)
        after = seats[-1]["seq"]


def csv_of(titles: Sequence[str], pieces: Iterable[Iterable[Cells]]) -> Iterator[bytes]:
    """Yield a table: its header, then each piece of its rows."""
    return write_table(chain([[titles]], pieces))


MONTH_COLUMNS: Final = (
    *("rank", "bot", "name", "owner", "owner_name", "rating_micro"),
    *("rating_error", "games", "matches"),
)


def _read_logs(database: Database, found: LogList) -> Iterator[tuple[LogEntry, bytes | None]]:
    """Yield each match with its gzipped log, or None if the log is damaged. Omit logs that were deleted meanwhile."""
    start = 0
    while True:
        with database.read() as session:
            entries = log_downloads.list_entries(session, found, start)
        for entry in entries:
            try:
                with database.read() as session:
                    packed = log_downloads.load_gzip_log(session, entry.match_id)
            except LogDeleted:
                continue
            yield entry, packed
        if not entries:
            return
        start += len(entries)
