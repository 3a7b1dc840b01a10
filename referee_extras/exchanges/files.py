"""Write what owners gained from each other in a month as a CSV table, piece by piece."""

from collections.abc import Iterator
from datetime import date
from functools import partial
from typing import Final

from api.downloads.files import cells_by_page, csv_of
from referee.csv_table import Cells, cell
from referee.db.engine import Database
from referee_extras.exchanges.listing import ExchangedPoints, list_exchanges

COLUMNS: Final = ("owner", "owner_name", "loser", "loser_name", "encounters", "points", "chance", "deviation")


def exchanges_csv(database: Database, ladder_id: str, month: date) -> Iterator[bytes]:
    """Yield what owners gained from each other in a month as a CSV table."""
    load = partial(list_exchanges, ladder_id=ladder_id, month=month)
    return csv_of(COLUMNS, cells_by_page(database, load, _cells))


def _cells(row: ExchangedPoints) -> Cells:
    return (
        *(row.owner_id, cell(row.owner_name), row.loser_id, row.loser_name and cell(row.loser_name)),
        *(row.encounters, round(row.points, 1), round(row.chance, 1), round(row.deviation, 2)),
    )
