"""Implement `referee tournament standings`."""

from itertools import islice

import click

from referee.cli.browser import open_option, open_page
from referee.cli.options import Number
from referee.cli.service import formatting, lookup
from referee.cli.service.remote import Remote, tournament_command
from referee.cli.tables import standings as standings_table
from referee.match.canonical import Json


@tournament_command(example="--limit 10")
@click.option("--limit", type=Number(1), help="Maximum number of rows to show. [default: all]")
@click.option("--bot", metavar="BOT", help="Show only the row of this bot.")
@click.option("--all-columns", is_flag=True, help="Add the other tie-breaks, matches, returns and error bars.")
@open_option
def standings(
    remote: Remote, tournament_id: str, limit: int | None, bot: str | None, all_columns: bool, opens: bool
) -> None:
    """Show the standings.

    A draw is a match in which a bot shared the first place. With --all-columns, tie-breaks are in the order in which
    they decide, and the points per match are followed by their 95 % confidence interval and, in brackets, the number of
    deal groups on which it is based. --json and the file standings.csv have all columns.
    """
    tournament = remote.api.get(f"/tournaments/{tournament_id}")
    path = f"/tournaments/{tournament_id}/standings"
    if bot is None:
        document = _fetch_all_pages(remote, f"{path}?limit={min(limit or 100, 100)}", limit)
        rows = document["items"]
    else:
        document = remote.api.get(f"{path}/{lookup.bot_id(remote.api, bot)}")
        rows = [document["row"]]
    title = f"{formatting.title(tournament)}; {formatting.progress(tournament)}"
    table = standings_table(tournament, title, rows, all_columns=all_columns)
    remote.show(document, table.plain() if rows else "No bots are entered.")
    if opens:
        open_page(remote.page(f"tournaments/{tournament_id}/standings"))


def _fetch_all_pages(remote: Remote, path: str, limit: int | None = None) -> Json:
    """Return the first page with the items of all pages, or with the first ``limit`` of them."""
    first: Json = remote.api.get(path)
    items = list(islice(remote.api.items(path), limit)) if first["next"] else first["items"][:limit]
    return first | {"items": items, "next": None}
