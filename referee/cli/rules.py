"""Implement `referee rules`, which shows the rules page of a game for bot authors."""

import re

import click
from rich.console import Console
from rich.markdown import Markdown

from referee.cli.options import json_option, usage_errors
from referee.cli.output import show
from referee.rulebook import rules_page

WIDEST = 122  # columns; wide enough for the examples, while longer lines are hard to read
MARKS_OF_TESTS = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
LINKS_TO_FILES = re.compile(r"\[([^]]+)\]\((?!https?:)[^)]+\)")  # the linked files exist only in a checkout


@click.command()
@click.argument("game_name", metavar="GAME")
@json_option
def rules(game_name: str, as_json: bool) -> None:
    """Show how GAME is played and what a bot may answer.

    If standard output is not a terminal, the page is printed as Markdown source, which --json prints as a text.
    """
    with usage_errors():
        page = rules_page(game_name)
    if as_json:
        show({"game": game_name, "markdown": page}, "", as_json=True)
    else:
        print_rules(page, Console())


def print_rules(page: str, console: Console) -> None:
    """Render the page on a terminal, or print its Markdown source elsewhere."""
    if console.is_terminal:
        text = LINKS_TO_FILES.sub(r"\1", MARKS_OF_TESTS.sub("", page))
        console.print(Markdown(text), width=min(console.width, WIDEST))
    else:
        click.echo(page, nl=False)
