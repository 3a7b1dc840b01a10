"""Implement `referee standings`, which shows the latest tournaments and the ladders of a service."""

from collections.abc import Iterator
from datetime import date
from itertools import islice

import click

from referee.cli import tables
from referee.cli.service.api_client import Api, ApiRefusal
from referee.cli.service.remote import Remote, service_command
from referee.errors import BadOption
from referee.match.canonical import Json
from referee.timestamps import format_month, parse_month

TOURNAMENTS_SHOWN = 5
LADDERS_SHOWN = 20
ROWS_SHOWN = 50
NOT_FOUND = 404

Found = Iterator[tuple[Json, list[Json]]]  # a tournament or a ladder, and its first rows


@service_command()
@click.option("--month", metavar="MONTH", help="Show the final standings of the ladders in a month like 2026-11.")
def standings(remote: Remote, month: str | None) -> None:
    """Show the latest tournaments and the ladders, or the ladders of a month.

    For one tournament, use `referee tournament standings`.
    """
    try:
        chosen = parse_month(month) if month else None
    except BadOption as error:
        raise click.BadParameter(str(error), param_hint="--month") from error
    found = list(_list_months(remote.api, chosen) if chosen else _list_latest(remote.api))
    nothing = f"No ladder has final standings of {month}." if month else "No matches have been played yet."
    items = [{"id": shown["id"], "name": shown["name"], "items": rows} for shown, rows in found]
    remote.show({"items": items}, "\n\n".join(_table(shown, rows).plain() for shown, rows in found) or nothing)


def _list_months(api: Api, month: date) -> Found:
    name = format_month(month)
    for ladder in api.items("/ladders"):
        try:
            closed = api.get(f"/ladders/{ladder['id']}/months/{name}?limit={ROWS_SHOWN}")
        except ApiRefusal as refusal:
            if refusal.status != NOT_FOUND:
                raise
            continue
        by = f"champion {closed['champion']['name']}" if closed["champion"] else "no champion"
        yield {"name": f"{ladder['name']}, {name}, {by}", "id": ladder["id"]}, closed["items"]


def _list_latest(api: Api) -> Found:
    for tournament in api.get(f"/tournaments?limit={TOURNAMENTS_SHOWN}")["items"]:
        yield tournament, api.get(f"/tournaments/{tournament['id']}/standings?limit={ROWS_SHOWN}")["items"]
    for ladder in islice(api.items("/ladders"), LADDERS_SHOWN):
        if rows := api.get(f"/ladders/{ladder['id']}?limit={ROWS_SHOWN}")["items"]:
            yield ladder, rows


def _table(shown: Json, rows: list[Json]) -> tables.TextTable:
    if "status" in shown:
        return tables.standings(shown, f"{shown['name']}: {shown['game']}, {shown['status']}", rows)
    return tables.ladder(f"{shown['name']} ({shown['id']})", rows)
