"""Implement `referee tournament create`, which drafts a tournament."""

from typing import Any

import click

from referee.cli.options import choice_of
from referee.cli.service import lookup
from referee.cli.service.parameters import as_object, moment, pair
from referee.cli.service.remote import Remote, service_command
from referee.house.players import LEVEL_ADDRESSES
from referee.match.canonical import Json
from referee.matches.states import DealSharing
from referee.pairing.kinds import SeatOrders, TournamentFormat
from referee.tournaments.presets import PRESETS, preset_terms


@service_command()
@click.argument("name")
@click.option("--game", metavar="GAME", required=True, help="Game to play; `referee games` lists them.")
@click.option("--seats", type=int, metavar="N", required=True, help="Seats per table.")
@click.option(
    "--min-seats",
    type=int,
    metavar="N",
    help="Seats of the smallest table. Pass the number of --seats for full tables, which may leave bots idle. "
    "[default: as few as the game allows; full tables in round robins and with most duplicate deals]",
)
@click.option(
    "--format", type=choice_of(TournamentFormat), help="Format, which determines the pairings. [default: round_robin]"
)
@click.option(
    "--format-option",
    type=pair,
    metavar="NAME=VALUE",
    multiple=True,
    help="Set an option of the format, like rounds=5 or best_of=3. Repeatable.",
)
@click.option(
    "--option",
    type=pair,
    metavar="NAME=VALUE",
    multiple=True,
    help="Set an option of the game, like rounds=3. Repeatable.",
)
@click.option("--cycles", type=int, metavar="N", help="Number of times that each bot meets every other. [default: 1]")
@click.option("--rated/--unrated", default=None, help="Let results count on the ladder, or not. [default: rated]")
@click.option(
    "--deal-sharing",
    type=choice_of(DealSharing),
    help="Matches that share their cards: none, all of a round, or those of the same bots in different seats. "
    "[default: common if rated, else own]",
)
@click.option(
    "--orders", type=choice_of(SeatOrders), help="Seat orders played with --deal-sharing duplicate. [default: cyclic]"
)
@click.option(
    "--trusted", is_flag=True, default=None, help="Trust all bots not to remember cards that they meet again."
)
@click.option(
    "--anonymous/--not-anonymous",
    default=None,
    help="Hide the players of a rated match until it is over, or not. [default: anonymous]",
)
@click.option("--late-entry", is_flag=True, default=None, help="Let bots enter after the start.")
@click.option(
    "--frozen-version", is_flag=True, default=None, help="Forbid bots to change their version during the tournament."
)
@click.option(
    "--bots-per-owner",
    type=int,
    metavar="N",
    help="Number of bots that an owner may enter; 1000 is no limit. [default: 1 if rated, else 1000]",
)
@click.option(
    "--substitute", type=click.Choice(LEVEL_ADDRESSES), help="House player that takes the seats of absent bots."
)
@click.option("--max-entries", type=int, metavar="N", help="Most bots that may enter. [default: limit of the format]")
@click.option(
    "--min-entries", type=int, metavar="N", help="With fewer bots at its start time, the tournament is cancelled."
)
@click.option(
    "--round-minutes", type=int, metavar="N", help="Least time from the beginning of a round to that of the next."
)
@click.option(
    "--round-time",
    "round_times",
    type=moment,
    metavar="MOMENT",
    multiple=True,
    help="When a round begins at the earliest; repeat it for each round, in order. Not with --round-minutes.",
)
@click.option("--approval", is_flag=True, default=None, help="Decide about each bot whose owner asks to enter it.")
@click.option(
    "--unlisted",
    "listed",
    flag_value=False,
    type=bool,
    default=None,
    help="Keep the tournament out of lists and the search; it must be unrated.",
)
@click.option("--entries-close-at", type=moment, metavar="MOMENT", help="When entries close. [default: at the start]")
@click.option(
    "--starts-at",
    type=moment,
    metavar="MOMENT",
    help="Time of the automatic start, like 2030-05-01T18:00:00Z, or +10m for ten minutes from now (s, m, h, d).",
)
@click.option(
    "--budget-ms", type=int, metavar="MS", help="Thinking time per decision, in milliseconds. [default: 1000]"
)
@click.option(
    "--bank-ms",
    type=int,
    metavar="MS",
    help="Extra thinking time per match, in milliseconds, used when a decision exceeds its budget. [default: 10000]",
)
@click.option(
    "--preset",
    type=click.Choice([*PRESETS]),
    help="Terms to begin with; other options replace them. " + " ".join(f"{p}: {PRESETS[p].text}" for p in PRESETS),
)
@click.option(
    "--description-file",
    "description",
    type=click.File(),
    metavar="FILE",
    help="File with a text in Markdown for the page of the tournament; - reads it from standard input.",
)
@click.option("--prizes", metavar="TEXT", help="What can be won, on one line.")
@click.option("--contact", metavar="TEXT", help="How to reach you, on one line; everyone can see it.")
@click.option("--link", metavar="URL", help="Address of your own page about the tournament.")
@click.option("--open", "opens", is_flag=True, help="Also open the tournament for entries.")
def create(remote: Remote, name: str, opens: bool, **terms: Any) -> None:
    """Draft a tournament. Bots can enter once it is open.

    \b
    Example with five rounds of Swiss at tables of two:
      referee tournament create "Spring cup" --game saint-poker --seats 2 \\
          --format swiss --format-option rounds=5 --substitute house:3 --open
    """
    tournament = remote.api.post("/tournaments", _body(remote, name, terms))
    if opens:
        tournament = remote.api.post(f"/tournaments/{tournament['id']}/open")
    step = "enter ID BOT…" if opens else "open ID"
    text = f"{tournament['id']}  {tournament['name']}, {tournament['status']}; next: referee tournament {step}"
    remote.show(tournament, text)


def _body(remote: Remote, name: str, terms: dict[str, Any]) -> Json:
    """Return a request body with only the given terms, since the service has the defaults.

    Replace the name of a champion with its id.
    """
    if (description := terms["description"]) is not None:
        terms["description"] = description.read()
    preset = terms.pop("preset")
    body: Json = {**(preset_terms(preset) if preset else {}), "name": name}
    for part, field in (("format_option", "format_options"), ("option", "options")):
        body |= {field: {**body.get(field, {}), **given}} if (given := as_object(terms.pop(part))) else {}
    champion = body.get("format_options", {}).get("champion")
    if isinstance(champion, str):
        body["format_options"]["champion"] = lookup.bot_id(remote.api, champion)
    time = {field: limit for field in ("budget_ms", "bank_ms") if (limit := terms.pop(field)) is not None}
    body |= {"time": {**body.get("time", {}), **time}} if time else {}
    terms["round_times"] = list(terms["round_times"]) or None
    return body | {field: value for field, value in terms.items() if value is not None}
