"""`referee standings`: the latest tournaments and the ladders, of a service or of a database on this machine.

Both sources yield rows in the form of the API, so that the same tables show them.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
from sqlalchemy.orm import Session

from referee.bots import bots
from referee.cli import tables
from referee.cli.api_client import Api
from referee.cli.options import data_option
from referee.ladders import ratings
from referee.match.canonical import Json
from referee.runtime.installation import record_of
from referee.tournaments import tournaments
from referee.tournaments.standings import event_results
from referee.tournaments.tables import Tournament

TOURNAMENTS_SHOWN = 5
LADDERS_SHOWN = 20
LINES_SHOWN = 50

Found = Iterator[tuple[Json, list[Json]]]  # a tournament or a ladder, and its first rows


@click.command()
@click.option("--url", metavar="URL", help="Service to ask, like http://127.0.0.1:8000. [default: the local database]")
@data_option
def standings(url: str | None, data: Path | None) -> None:
    """Show the latest tournaments and the ladders.

    For one tournament of a service see `referee tournament standings`.
    """
    if url:
        with Api(url) as api:
            found = [_table(one, rows) for one, rows in _from_service(api)]
    else:
        _, database = record_of(data)
        with database.read() as session:
            found = [_table(one, rows) for one, rows in _from_database(session)]
        database.dispose()
    click.echo("\n\n".join(table.plain() for table in found) or "nothing has been played yet")


def _table(one: Json, rows: list[Json]) -> tables.Table:
    if "status" in one:
        return tables.standings(f"{one['name']}: {one['game']}, {one['status']}", rows)
    return tables.ladder(f"{one['game']}, {one['seats']} seats ({one['id']})", rows)


def _from_service(api: Api) -> Found:
    for one in api.get(f"/tournaments?limit={TOURNAMENTS_SHOWN}")["items"]:
        yield one, api.get(f"/tournaments/{one['id']}/standings?limit={LINES_SHOWN}")["items"]
    for ladder in islice(api.items("/ladders"), LADDERS_SHOWN):
        yield ladder, api.get(f"/ladders/{ladder['id']}?limit={LINES_SHOWN}")["items"]


def _from_database(session: Session) -> Found:
    for one in tournaments.list_tournaments(session, limit=TOURNAMENTS_SHOWN).items:
        yield {"name": one.name, "game": one.game, "status": one.status}, _standings_rows(session, one)
    for ladder in ratings.list_ladders(session, limit=LADDERS_SHOWN).items:
        page = ratings.ladder_page(session, ladder.id, limit=LINES_SHOWN)
        rows = [
            {"rank": line.place, "name": line.name, "rating": line.value / 1_000_000, "games": line.games}
            for line in page.page.items
        ]
        yield {"game": ladder.game, "seats": ladder.seats, "id": ladder.id}, rows


def _standings_rows(session: Session, tournament: Tournament) -> list[Json]:
    rows = event_results(session, tournament).table()[:LINES_SHOWN]
    names = bots.names_of(session, (str(row.entrant) for row in rows))
    return [
        {
            "place": row.place,
            "name": names[str(row.entrant)],
            "matches": row.matches,
            "points": float(row.points),
            "wins": row.wins,
            "returns": row.returns,
            "tie_breaks": [
                {"name": name, "value": None if value is None else float(value)}
                for name, value in row.tie_breaks.items()
            ],
        }
        for row in rows
    ]
