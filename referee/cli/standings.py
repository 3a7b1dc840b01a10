"""Implement `referee standings`, which shows the latest tournaments and the ladders of a service or local database.

Both sources yield rows in the format of the API, so that the same functions format them.
"""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import date
from itertools import islice
from pathlib import Path

import click
from sqlalchemy.orm import Session

from referee.cli import tables
from referee.cli.browser import open_option, open_page
from referee.cli.options import data_option, json_option
from referee.cli.output import show
from referee.cli.service.api_client import Api, ApiRefusal, parse_origin
from referee.cli.service.remote import errors_as_sentences, select_service
from referee.errors import BadOption
from referee.ladders import months, ratings
from referee.ladders.rating_errors import StrengthEstimate, load_estimates
from referee.ladders.ratings import RankedBot
from referee.ladders.tables import MonthRow
from referee.match.canonical import Json
from referee.ratings.elo import MICRO
from referee.runtime.service_database import NoDatabase, open_database
from referee.tournaments import tournaments
from referee.tournaments.entries import find_entered_bots
from referee.tournaments.standings import load_tournament_results
from referee.tournaments.tables import Tournament

TOURNAMENTS_SHOWN = 5
LADDERS_SHOWN = 20
ROWS_SHOWN = 50
NOT_FOUND = 404

Found = Iterator[tuple[Json, list[Json]]]  # a tournament or a ladder, and its first rows


@click.command()
@click.option(
    "--url",
    metavar="URL",
    envvar="REFEREE_URL",
    help="Service to ask, like http://127.0.0.1:8000. [default: $REFEREE_URL, else the local database, else that of "
    "`referee login`]",
)
@click.option("--month", metavar="MONTH", help="Show the final standings of the ladders in a month like 2026-11.")
@data_option
@json_option
@open_option
def standings(url: str | None, month: str | None, data: Path | None, as_json: bool, opens: bool) -> None:
    """Show the latest tournaments and the ladders, or the ladders of a month.

    For one tournament of a service, use `referee tournament standings`.
    """
    with errors_as_sentences(as_json):
        url = select_service(url, for_database=data is not None)
    if opens and not url:
        raise click.UsageError("A local database has no pages. Pass the --url of the service with --open.")
    chosen = _read_month(month) if month else None
    if url:
        with errors_as_sentences(as_json), Api(url) as api:
            rows_of = _months_from_service(api, chosen) if chosen else _from_service(api)
            found = list(rows_of)
    else:
        try:
            _, database = open_database(data)
        except NoDatabase as error:
            raise NoDatabase(f"{error} To ask a running service, pass its address with --url.") from None
        with database.read() as session:
            rows_of = _months_from_database(session, chosen) if chosen else _from_database(session)
            found = list(rows_of)
        database.dispose()
    nothing = f"No ladder has final standings of {month}." if month else "No matches have been played yet."
    text = "\n\n".join(_table(shown, rows).plain() for shown, rows in found) or nothing
    items = [{"id": shown["id"], "name": shown["name"], "items": rows} for shown, rows in found]
    show({"items": items}, text, as_json=as_json)
    if opens:
        open_page(f"{parse_origin(url or '')}/ladders")


def _read_month(text: str) -> date:
    try:
        return months.parse_month(text)
    except BadOption as error:
        raise click.BadParameter(str(error), param_hint="--month") from error


def _months_from_service(api: Api, month: date) -> Found:
    name = months.format_month(month)
    for ladder in api.items("/ladders"):
        try:
            closed = api.get(f"/ladders/{ladder['id']}/months/{name}?limit={ROWS_SHOWN}")
        except ApiRefusal as refusal:
            if refusal.status != NOT_FOUND:
                raise
            continue
        yield _month_title(ladder["name"], ladder["id"], name, closed["champion"]), closed["items"]


def _months_from_database(session: Session, month: date) -> Found:
    for closed in months.list_ladders_of(session, month):
        rows = [_ladder_row(row, row) for row in months.list_rows(session, closed.month, limit=ROWS_SHOWN).items]
        champion = {"name": closed.champion.name} if closed.champion else None
        yield _month_title(closed.ladder.name, closed.ladder.id, closed.name, champion), rows


def _month_title(name: str, ladder_id: str, month: str, champion: Json | None) -> Json:
    by = f"champion {champion['name']}" if champion else "no champion"
    return {"name": f"{name}, {month}, {by}", "id": ladder_id}


def _table(shown: Json, rows: list[Json]) -> tables.TextTable:
    if "status" in shown:
        return tables.standings(f"{shown['name']}: {shown['game']}, {shown['status']}", rows)
    return tables.ladder(f"{shown['name']} ({shown['id']})", rows)


def _from_service(api: Api) -> Found:
    for tournament in api.get(f"/tournaments?limit={TOURNAMENTS_SHOWN}")["items"]:
        yield tournament, api.get(f"/tournaments/{tournament['id']}/standings?limit={ROWS_SHOWN}")["items"]
    for ladder in islice(api.items("/ladders"), LADDERS_SHOWN):
        if rows := api.get(f"/ladders/{ladder['id']}?limit={ROWS_SHOWN}")["items"]:
            yield ladder, rows


def _from_database(session: Session) -> Found:
    for tournament in tournaments.list_tournaments(session, limit=TOURNAMENTS_SHOWN).items:
        shown = {"id": tournament.id, "name": tournament.name, "game": tournament.game, "status": tournament.status}
        yield shown, _standings_rows(session, tournament)
    for ladder in ratings.list_ladders(session, limit=LADDERS_SHOWN).items:
        ranked = ratings.load_page(session, ladder.id, limit=ROWS_SHOWN).page.items
        estimates = load_estimates(session, ladder.id, [row.bot_id for row in ranked])
        rows = [_ladder_row(row, estimates[row.bot_id]) for row in ranked]
        if rows:
            yield {"name": ladder.name, "id": ladder.id}, rows


def _ladder_row(row: RankedBot | MonthRow, estimate: StrengthEstimate | MonthRow) -> Json:
    return {
        "rank": row.rank,
        "name": row.name,
        "rating": row.value / MICRO,
        "strength": estimate.strength,
        "strength_error": estimate.strength_error,
        "games": row.games,
    }


def _standings_rows(session: Session, tournament: Tournament) -> list[Json]:
    rows = load_tournament_results(session, tournament).standings()[:ROWS_SHOWN]
    entered = find_entered_bots(session, tournament.id, [str(row.entrant) for row in rows])
    return [
        {
            "rank": row.rank,
            **asdict(entered[str(row.entrant)]),
            "matches": row.matches,
            "points": float(row.points),
            "wins": row.wins,
            "draws": row.draws,
            "losses": row.losses,
            "returns": row.returns,
            "tie_breaks": [
                {"name": name, "value": None if value is None else float(value)}
                for name, value in row.tie_breaks.items()
            ],
        }
        for row in rows
    ]
