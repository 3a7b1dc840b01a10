"""Implement `referee games`, which lists the games with their seats and options."""

import click

from referee.games import catalogue
from referee.games.options import Option


@click.command()
def games() -> None:
    """List the games with their seats, options and bounds."""
    for name, rules in catalogue().items():
        click.echo(f"{name}  {rules.seats[0]} to {rules.seats[-1]} seats, rules version {rules.rules_version}")
        for spec in rules.option_specs:
            click.echo(f"    {spec.name}={_default(spec)}  {_bounds(spec)}: {spec.help}")


def _default(spec: Option) -> str:
    match spec.default:
        case bool():
            return str(spec.default).lower()
        case list():
            return ",".join(spec.default)
        case _:
            return str(spec.default)


def _bounds(spec: Option) -> str:
    match spec.kind:
        case "int":
            return f"{spec.low} to {spec.high}"
        case "choice":
            return ", ".join(spec.choices)
        case "list":
            return f"any of {', '.join(spec.choices)}, separated by commas"
        case _:
            return "true, false"
