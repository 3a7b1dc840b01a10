"""`referee tournament create` and `edit`: draft a tournament with its terms, and change when it starts."""

from typing import Any

import click

from referee.cli.tournament import lookup
from referee.cli.tournament.formatting import clock
from referee.cli.tournament.parameters import Moment, Pair, as_object
from referee.cli.tournament.remote import Remote, asks_service
from referee.house.strategies import players
from referee.match.canonical import Json
from referee.pairing import formats

DEALS = ("own", "common", "duplicate")
ORDERS = ("cyclic", "all")


@click.command()
@click.argument("name")
@click.option("--game", required=True, help="Its name; `referee games` lists them.")
@click.option("--seats", type=int, required=True, help="Of each table.")
@click.option("--format", type=click.Choice(list(formats())), help="Who meets whom. [default: round_robin]")
@click.option(
    "--format-option", type=Pair(), multiple=True, help="Of the format, like stages=5 or best_of=3; repeatable."
)
@click.option("--option", type=Pair(), multiple=True, help="Of the game, like rounds=3; repeatable.")
@click.option("--cycles", type=int, help="How often everybody meets everybody. [default: 1]")
@click.option("--rated/--unrated", default=None, help="Whether it counts for the ladder. [default: rated]")
@click.option(
    "--deals", type=click.Choice(DEALS), help="Who plays the same cards. [default: common where rated, else own]"
)
@click.option("--orders", type=click.Choice(ORDERS), help="How seats rotate with --deals duplicate. [default: cyclic]")
@click.option("--trusted", is_flag=True, default=None, help="All bots are trusted to meet the same cards again.")
@click.option("--open-seats", is_flag=True, default=None, help="Rivals are named while a match is played.")
@click.option("--late-entry", is_flag=True, default=None, help="Bots may enter after the start.")
@click.option("--frozen-version", is_flag=True, default=None, help="Bots may not change their version.")
@click.option(
    "--stand-in", type=click.Choice(list(players())), help="House player that takes the seats of absent bots."
)
@click.option(
    "--starts-at", type=Moment(), help="When it starts by itself: 2030-05-01T18:00:00Z, or +10m (s, m, h, d)."
)
@click.option("--budget-ms", type=int, help="Thinking time of a decision. [default: 1000]")
@click.option("--bank-ms", type=int, help="Thinking time of a match, for what exceeds the budget. [default: 10000]")
@click.option("--open", "opens", is_flag=True, help="Open it for entries at once.")
@asks_service
def create(remote: Remote, name: str, opens: bool, **terms: Any) -> None:
    """Draft an event; it takes entries once it is opened.

    \b
    Example: five stages of Swiss at tables of two, the same cards at all tables
      referee tournament create "Spring cup" --game saint-poker --seats 2 \\
          --format swiss --format-option stages=5 --stand-in sound --open
    """
    event = remote.api.post("/tournaments", _body(remote, name, terms))
    if opens:
        event = remote.api.post(f"/tournaments/{event['id']}/open")
    step = "enter ID BOT…" if opens else "open ID"
    words = f"{event['id']}  {event['name']}, {event['status']}; next: referee tournament {step}"
    remote.tell(event, words)


@click.command()
@click.argument("tournament", metavar="TOURNAMENT")
@click.option("--starts-at", type=Moment(), help="New start time, in the format of `referee tournament create`.")
@click.option("--by-hand", is_flag=True, help="Remove the start time: the tournament starts when you start it.")
@asks_service
def edit(remote: Remote, tournament: str, starts_at: str | None, by_hand: bool) -> None:
    """Change the start time of a draft or an open tournament.

    This includes a tournament that missed its start because too few bots were entered.


    \b
    Example:
      referee tournament edit "Spring cup" --starts-at +10m
    """
    if (starts_at is None) != by_hand:
        raise click.UsageError("Pass either a new time with --starts-at, or --by-hand.")
    event = lookup.tournament_id(remote.api, tournament)
    document = remote.api.patch(f"/tournaments/{event}", {"starts_at": starts_at})
    when = "when you start it" if starts_at is None else f"at {clock(starts_at)}"
    remote.tell(document, f"{document['name']} starts {when}")


def _body(remote: Remote, name: str, terms: dict[str, Any]) -> Json:
    """Only what was said; the rest is up to the service. The champion of a gauntlet may be told by its name."""
    body: Json = {"name": name}
    for part, field in (("format_option", "format_options"), ("option", "options")):
        body |= {field: given} if (given := as_object(terms.pop(part))) else {}
    champion = body.get("format_options", {}).get("champion")
    if isinstance(champion, str):
        body["format_options"]["champion"] = lookup.bot_id(remote.api, champion)
    time = {field: limit for field in ("budget_ms", "bank_ms") if (limit := terms.pop(field)) is not None}
    body |= {"time": time} if time else {}
    return body | {field: value for field, value in terms.items() if value is not None}
