"""Print the result of a command that asks no service: one JSON document with ``--json``, otherwise text."""

import json
from typing import Any

import click

from referee.cli.plain_text import replace_control_characters
from referee.match.canonical import Json


def show(document: Json | list[Any], text: str, *, as_json: bool) -> None:
    """Print the JSON document or, without ``as_json``, the text without control characters."""
    click.echo(json.dumps(document) if as_json else replace_control_characters(text))
