"""Implement `referee games`, which lists the games with their seats and options."""

import click

from referee.cli.options import json_option
from referee.cli.output import show
from referee.cli.table_layout import terminal_width, wrap
from referee.games import catalogue
from referee.games.options import Option
from referee.match.canonical import Json


@click.command()
@json_option
def games(as_json: bool) -> None:
    """List the games with their seats, options and bounds."""
    lines, items = [], []
    for name, rules in catalogue().items():
        lines.append(f"{name}  {rules.seats[0]} to {rules.seats[-1]} seats, rules version {rules.rules_version}")
        lines += [f"    {spec.name}={_default(spec)}  {_bounds(spec)}: {spec.help}" for spec in rules.option_specs]
        items.append(
            {
                "name": name,
                "seats": {"minimum": rules.seats[0], "maximum": rules.seats[-1]},
                "rules_version": rules.rules_version,
                "options": [_as_json(spec) for spec in rules.option_specs],
            }
        )
    width = terminal_width()
    show({"items": items}, "\n".join(part for line in lines for part in wrap(line, width)), as_json=as_json)


def _as_json(spec: Option) -> Json:
    """Return an option as the API shows it."""
    shown: Json = {"name": spec.name, "type": spec.kind, "default": spec.default, "help": spec.help}
    match spec.kind:
        case "int":
            return {**shown, "minimum": spec.low, "maximum": spec.high}
        case "choice" | "list":
            return {**shown, "choices": list(spec.choices)}
        case _:
            return shown


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
