"""Implement `referee exchanges`, which shows what owners gained from each other on a ladder."""

from datetime import UTC, date, datetime

import click

from referee.cli.options import Number
from referee.cli.tables import TextTable
from referee.cli.tournament import lookup
from referee.cli.tournament.remote import Remote, service_command
from referee.errors import BadOption
from referee.ladders import months
from referee.match.canonical import Json

HEADS = ("gained", "from", "points", "encounters", "by chance", "deviation")


@service_command()
@click.argument("ladder", metavar="LADDER")
@click.option("--month", metavar="MONTH", help="Show a month like 2026-11. [default: the current one, in UTC]")
@click.option("--limit", type=Number(1, 100), default=20, show_default=True, help="Show this many pairs.")
def exchanges(remote: Remote, ladder: str, month: str | None, limit: int) -> None:
    """Show which owners gained points from which others, what chance explains least first.

    LADDER is the id or the name of a ladder. Points are those of the rating formula, before the daily caps. A deviation
    of more than 4 is hardly chance: a new bot whose rating is not settled, or an arrangement.

    \b
    Examples:
      referee exchanges "Pool Nap"
      referee exchanges "Pool Nap" --month 2026-11 --limit 50
    """
    chosen = _read_month(month) if month else datetime.now(UTC).date()
    path = f"/ladders/{lookup.ladder_id(remote.api, ladder)}/exchanges/{months.format_month(chosen)}?limit={limit}"
    document = remote.api.get(path)
    remote.show(document, format_exchanges(document))


def format_exchanges(document: Json) -> str:
    """Return the pairs of owners as a table."""
    title = f"{document['ladder_name']}, {document['month']}"
    if not document["items"]:
        return f"{title}: no points were exchanged."
    rows = [
        (
            item["owner_name"],
            item["loser_name"] or "house players",
            f"{item['points']:+.1f}",
            str(item["encounters"]),
            f"{item['chance']:.1f}",
            f"{item['deviation']:.1f}",
        )
        for item in document["items"]
    ]
    return f"{title}\n{TextTable(HEADS, rows, left=('gained', 'from')).plain()}"


def _read_month(text: str) -> date:
    try:
        return months.parse_month(text)
    except BadOption as error:
        raise click.BadParameter(str(error), param_hint="--month") from error
