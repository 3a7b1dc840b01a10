"""The group of all subcommands. The module of a subcommand is imported only when it is used."""

import errno
from typing import Any, Final

import click

from referee import __version__
from referee.cli.lazy_group import LazyGroup
from referee.cli.plain_text import replace_control_characters
from referee.errors import RefereeError

COMMANDS = {  # by heading, in the order of the help page: module beside this file, and the command's name in it
    "First steps": {
        "new-bot": ("new_bot", "new_bot"),
        "play": ("play", "play"),
        "check": ("check", "check"),
    },
    "Games and house players": {
        "games": ("games", "games"),
        "rules": ("rules", "rules"),
        "house": ("house", "house"),
    },
    "Logs of matches": {
        "replay": ("logs", "replay"),
        "verify": ("logs", "verify"),
        "reask": ("reask", "reask"),
        "fork": ("fork", "fork"),
    },
    "Use a service": {
        "register": ("register", "register"),
        "watch": ("watch", "watch"),
        "faults": ("faults", "faults"),
        "tournament": ("tournament", "tournament"),
        "standings": ("standings", "standings"),
    },
    "Run a service": {
        "demo": ("demo", "demo"),
        "up": ("up", "up"),
        "admin": ("admin", "admin"),
        "audit": ("audit", "audit"),
    },
}


# Errors that a user can resolve with another path or as another user.
FORBIDDEN: Final = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EISDIR, errno.ENOTDIR)


class Cli(LazyGroup):
    """Report errors of the referee and of the file system as a sentence instead of a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except RefereeError as error:
            raise click.ClickException(replace_control_characters(str(error))) from error
        except OSError as error:
            if error.errno not in FORBIDDEN or error.filename is None:
                raise
            raise click.ClickException(
                f"{replace_control_characters(str(error.filename))} cannot be used: {error.strerror}. "
                "Choose another path, or run the command as a user who may use this one."
            ) from error


@click.group(cls=Cli, package="referee.cli", members=COMMANDS)
@click.version_option(__version__, prog_name="referee")
def main() -> None:
    """Run matches and tournaments of card-playing bots that answer over HTTP."""
