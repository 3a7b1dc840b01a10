"""The group of all subcommands. A subcommand's module is imported when it is asked for, not before."""

from importlib import import_module
from typing import Any

import click

from referee import __version__
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


class Family(click.Group):
    """Loads its members late, and shows what the referee refuses as a sentence instead of a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"referee.cli.{module}"), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except RefereeError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Family)
@click.version_option(__version__, prog_name="referee")
def main() -> None:
    """Referee: tournaments for card-playing bots that answer over HTTP."""
