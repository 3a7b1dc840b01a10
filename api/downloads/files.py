"""Generate downloads piece by piece while they are sent: gzipped logs, zips, CSV tables.

Each piece is read in its own short transaction, so that neither memory nor locks grow with the file.
"""

import csv
import gzip
import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain, islice
from typing import Final

import orjson

from referee.csv_table import Cells, cell, write_table
from referee.db.engine import Database
from referee.db.paging import MAX_PAGE_SIZE, Cursor
from referee.errors import LogDeleted
from referee.ladders import months
from referee.ladders.tables import LadderMonth
from referee.matches.download_seats import SEAT_COLUMNS, seat_cells
from referee.matches.states import MatchState
from referee.tournaments import result_seats
from referee.tournaments.result_seats import ResultFilter
from referee.workflows.publishing import log_downloads
from referee.workflows.publishing.log_downloads import LogEntry, LogList

MOST_IN_ZIP: Final = 50_000  # logs; each takes 400 bytes of memory while the zip is written
DATE: Final = (1980, 1, 1, 0, 0, 0)  # time of all files in a zip, so that the same logs give the same bytes


def gzip_logs(database: Database, found: LogList) -> Iterator[bytes]:
    """Yield gzip members: each log as stored, followed by a line with the status if its match does not count."""
    for entry, packed in _read_logs(database, found):
        counts = packed and entry.status == MatchState.FINISHED
        yield (packed or b"") + (b"" if counts else _status_line(entry, damaged=packed is None))


def zip_logs(database: Database, found: LogList) -> Iterator[bytes]:
    """Yield a zip with a file for each log and ``index.csv``, piece by piece."""
    sink, index = _Sink(), io.StringIO(newline="")
    rows = csv.writer(index)
    rows.writerow([*INDEX, "file"])
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for entry, packed in islice(_read_logs(database, found), MOST_IN_ZIP):
            file = f"{entry.match_id}.ndjson" if packed else ""
            if packed:
                _add_file(archive, file, gzip.decompress(packed))
            described = {**asdict(entry), "match": entry.match_id, "tournament": entry.tournament_id}
            described["status"] = entry.status if packed else "damaged"
            rows.writerow([*(cell(described[name]) for name in INDEX), file])
            yield sink.take_bytes()
        _add_file(archive, "index.csv", index.getvalue().encode())
        yield sink.take_bytes()
    yield sink.take_bytes()


def results_csv(database: Database, which: ResultFilter, until: int) -> Iterator[bytes]:
    """Yield a CSV table with a row for each seat. Names that look like formulas get an apostrophe."""
    return _table(SEAT_COLUMNS, _result_pieces(database, which, until))


def month_csv(database: Database, closed: LadderMonth) -> Iterator[bytes]:
    """Yield the final standings of a month as a CSV table."""
    return _table(MONTH_COLUMNS, _month_pieces(database, closed))


def _month_pieces(database: Database, closed: LadderMonth) -> Iterator[Iterable[Cells]]:
    cursor: Cursor | None = None
    while True:
        with database.read() as session:
            page = months.list_rows(session, closed, limit=MAX_PAGE_SIZE, cursor=cursor)
        yield [
            (
                *(row.rank, row.bot_id, cell(row.name), row.owner_id, cell(row.owner_name)),
                *(row.value, _round_points(row.strength), _round_points(row.strength_error), row.games, row.matches),
            )
            for row in page.items
        ]
        cursor = page.next
        if cursor is None:
            return


def _round_points(points: float | None) -> float | None:
    return None if points is None else round(points, 1)


def _result_pieces(database: Database, which: ResultFilter, until: int) -> Iterator[Iterable[Cells]]:
    after = 0
    while True:
        with database.read() as session:
            seats = result_seats.load_result_seats(session, which, after=after, until=until)
        if not seats:
            return
        yield map(seat_cells, seats)
        after = seats[-1].seq


def _table(titles: Sequence[str], pieces: Iterable[Iterable[Cells]]) -> Iterator[bytes]:
    """Yield a table: its header, then each piece of its rows."""
    return write_table(chain([[titles]], pieces))


INDEX: Final = ("match", "game", "tournament", "tournament_round", "table", "leg", "status", "reason", "finished_at")
MONTH_COLUMNS: Final = (
    *("rank", "bot", "name", "owner", "owner_name", "rating_micro"),
    *("strength", "strength_error", "games", "matches"),
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


def _status_line(entry: LogEntry, *, damaged: bool) -> bytes:
    status = {"match": entry.match_id, "reason": entry.reason, "type": "damaged" if damaged else entry.status}
    return gzip.compress(orjson.dumps(status, option=orjson.OPT_SORT_KEYS) + b"\n", mtime=0)


def _add_file(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    with archive.open(entry, "w") as file:
        file.write(content)


class _Sink:
    """Act as a write-only file for ``ZipFile``. ``take_bytes`` returns the written bytes and drops them."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes, /) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take_bytes(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
