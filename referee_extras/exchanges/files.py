"""Write what owners gained from each other in a month as a CSV table, piece by piece."""

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import chain
from typing import Final

from referee.csv_table import Cells, cell, write_table
from referee.db.engine import Database
from referee.db.paging import MAX_PAGE_SIZE, Cursor
from referee_extras.exchanges.listing import list_exchanges

COLUMNS: Final = ("owner", "owner_name", "loser", "loser_name", "encounters", "points", "chance", "deviation")


def exchanges_csv(database: Database, ladder_id: str, month: date) -> Iterator[bytes]:
    """Yield what owners gained from each other in a month as a CSV table."""
    return write_table(chain([[COLUMNS]], _pieces(database, ladder_id, month)))


def _pieces(database: Database, ladder_id: str, month: date) -> Iterator[Iterable[Cells]]:
    cursor: Cursor | None = None
    while True:
        with database.read() as session:
            page = list_exchanges(session, ladder_id, month, limit=MAX_PAGE_SIZE, cursor=cursor)
        yield [
            (
                *(row.owner_id, cell(row.owner_name), row.loser_id, row.loser_name and cell(row.loser_name)),
                *(row.encounters, round(row.points, 1), round(row.chance, 1), round(row.deviation, 2)),
            )
            for row in page.items
        ]
        cursor = page.next
        if cursor is None:
            return
