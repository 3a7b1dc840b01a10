"""The group of all subcommands. A subcommand's module is imported when it is asked for, not before."""

from typing import Any

import click

from referee import __version__
from referee.cli.family import Family
from referee.cli.plain_text import plain
from referee.errors import RefereeError

COMMANDS = {  # in the order of the help page: module beside this file, and the command's name in it
    "demo": ("demo", "demo"),
    "up": ("up", "up"),
    "new-bot": ("new_bot", "new_bot"),
    "play": ("play", "play"),
    "check": ("check", "check"),
    "register": ("register", "register"),
    "watch": ("watch", "watch"),
    "faults": ("faults", "faults"),
    "verify": ("logs", "verify"),
    "replay": ("logs", "replay"),
    "reask": ("reask", "reask"),
    "fork": ("fork", "fork"),
    "games": ("games", "games"),
    "rules": ("rules", "rules"),
    "house": ("house", "house"),
    "tournament": ("tournament", "tournament"),
    "standings": ("standings", "standings"),
    "audit": ("audit", "audit"),
    "admin": ("admin", "admin"),
}


class Outermost(Family):
    """Shows what the referee refuses as a sentence instead of a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except RefereeError as error:
            raise click.ClickException(plain(str(error))) from error


@click.group(cls=Outermost, package="referee.cli", members=COMMANDS)
@click.version_option(__version__, prog_name="referee")
def main() -> None:
    """Referee: tournaments for card-playing bots that answer over HTTP."""
