"""`referee standings`: tournaments and ladders, from a service by its URL or from the record on this machine."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
from sqlalchemy.orm import Session

from referee.bots import bots
from referee.cli import tables
from referee.cli.api_client import Api
from referee.cli.installation import data_option, record_of
from referee.cli.tables import Standings
from referee.ladders import ratings
from referee.match.canonical import Json
from referee.tournaments import tournaments
from referee.tournaments.standings import event_results
from referee.tournaments.tables import Tournament

TOURNAMENTS_SHOWN = 5
LADDERS_SHOWN = 20
LINES_SHOWN = 50


@click.command()
@click.option("--url", help="Of the service, like http://127.0.0.1:8000; without it the local record is read.")
@data_option
def standings(url: str | None, data: Path | None) -> None:
    """Show the latest tournaments and the ladders."""
    if url:
        with Api(url) as api:
            found = list(_from_service(api))
    else:
        _, database = record_of(data)
        with database.read() as session:
            found = list(_from_record(session))
        database.dispose()
    click.echo("\n\n".join(table.plain() for table in found) or "nothing has been played yet")


def _from_service(api: Api) -> Iterator[Standings]:
    for one in api.get(f"/tournaments?limit={TOURNAMENTS_SHOWN}")["items"]:
        rows = api.get(f"/tournaments/{one['id']}/standings?limit={LINES_SHOWN}")["items"]
        yield tables.tournament(_title(one), rows)
    for ladder in islice(api.items("/ladders"), LADDERS_SHOWN):
        page = api.get(f"/ladders/{ladder['id']}?limit={LINES_SHOWN}")
        yield tables.ladder(tables.ladder_title(page), page["items"])


def _from_record(session: Session) -> Iterator[Standings]:
    for one in tournaments.list_tournaments(session, limit=TOURNAMENTS_SHOWN).items:
        title = _title({"name": one.name, "game": one.game, "status": one.status})
        yield tables.tournament(title, _tournament_rows(session, one))
    for ladder in ratings.list_ladders(session, limit=LADDERS_SHOWN).items:
        page = ratings.ladder_page(session, ladder.id, limit=LINES_SHOWN)
        rows = [
            {"rank": line.place, "name": line.name, "rating": line.value / 1_000_000, "games": line.games}
            for line in page.page.items
        ]
        title = tables.ladder_title({"game": ladder.game, "seats": ladder.seats, "id": ladder.id})
        yield tables.ladder(title, rows)


def _tournament_rows(session: Session, tournament: Tournament) -> list[Json]:
    rows = event_results(session, tournament).table()[:LINES_SHOWN]
    names = bots.names_of(session, (str(row.entrant) for row in rows))
    return [
        {
            "place": row.place,
            "bot": str(row.entrant),
            "name": names[str(row.entrant)],
            "matches": row.matches,
            "points": float(row.points),
            "wins": row.wins,
            "returns": row.returns,
        }
        for row in rows
    ]


def _title(one: Json) -> str:
    return f"{one['name']}: {one['game']}, {one['status']}"
