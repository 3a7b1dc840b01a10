"""Implement `referee tournament create`, which drafts a tournament."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import click

from referee.cli.options import choice_of
from referee.cli.service import lookup
from referee.cli.service.parameters import as_object, moment, pair
from referee.cli.service.remote import Remote, service_command
from referee.match.canonical import Json
from referee.tournaments.presets import PRESETS
from referee.tournaments.terms import TERMS, Term

Command = TypeVar("Command", bound=Callable[..., object])


def _term_option(term: Term) -> Callable[[Command], Command]:
    """Return the option for a term, which is None if it is left out."""
    default = term.default_in_words or (f"{term.default}" if term.default and term.type is not bool else "")
    help = term.explain("Leave it out") + (f" [default: {default}]" if default else "")
    flag = "--" + term.name.replace("_", "-")
    if term.choices:
        return click.option(flag, type=choice_of(term.choices), help=help)
    if term.type is bool:
        switch = f"{flag}/--{term.off}" if term.off else flag
        return click.option(switch, is_flag=True, default=None, help=help)
    if term.type in (list, dict):
        parse, metavar = (moment, "MOMENT") if term.type is list else (pair, "NAME=VALUE")
        return click.option(
            flag[:-1], term.name, type=parse, metavar=metavar, multiple=True, help=f"{help} Repeatable."
        )
    kind, metavar = {int: (int, "N"), datetime: (moment, "MOMENT"), str: (str, "TEXT")}[term.type]
    return click.option(flag, type=kind, metavar=metavar, required=term.is_required, help=help)


def term_options(command: Command) -> Command:
    """Add an option for each term, except those that ``create`` takes in another way."""
    for term in reversed([*TERMS.values()]):
        if term.name not in ("name", "description"):
            command = _term_option(term)(command)
    return command


@service_command()
@click.argument("name")
@click.option("--game", metavar="GAME", required=True, help="Game to play; `referee games` lists them.")
@term_options
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
    body: Json = {**(PRESETS[preset].terms if preset else {}), "name": name}
    for field in ("format_options", "options"):
        body |= {field: {**body.get(field, {}), **given}} if (given := as_object(terms.pop(field))) else {}
    champion = body.get("format_options", {}).get("champion")
    if isinstance(champion, str):
        body["format_options"]["champion"] = lookup.bot_id(remote.api, champion)
    time = {field: limit for field in ("budget_ms", "bank_ms") if (limit := terms.pop(field)) is not None}
    body |= {"time": {**body.get("time", {}), **time}} if time else {}
    terms["round_times"] = list(terms["round_times"]) or None
    return body | {field: value for field, value in terms.items() if value is not None}
