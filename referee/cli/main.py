"""Group all subcommands, and import the module of a subcommand only when it is used."""

import errno
import sys
from typing import Any, Final

import click

import referee
from referee.cli.lazy_group import LazyGroup
from referee.cli.plain_text import as_sentence, replace_control_characters
from referee.errors import RefereeError

COMMANDS = {  # in the order of the help page: heading, name of the command, module in this package
    "First steps": {"new-bot": "new_bot", "play": "play", "check": "check"},
    "Games and house players": {"games": "games", "rules": "rules", "house": "house"},
    "Logs of matches": {"replay": "logs", "verify": "logs", "reask": "reask", "fork": "fork"},
    "Use a service": {
        "login": "login",
        "whoami": "login",
        "logout": "login",
        "register": "register",
        "account": "account",
        "bots": "bots",
        "tokens": "tokens",
        "watch": "watch",
        "match": "match",
        "logs": "service_logs",
        "faults": "faults",
        "friendlies": "friendlies",
        "invitations": "invitations",
        "ladders": "ladders",
        "exchanges": "exchanges",
        "tournament": "tournament",
        "series": "series",
        "standings": "standings",
        "api": "api",
    },
    "Run a service": {
        "demo": "demo",
        "up": "up",
        "admin": "admin",
        "class": "class_accounts",
        "accounts": "accounts",
        "audit": "audit",
        "backup": "backup",
        "restore": "backup",
        "prune": "prune",
        "keys": "keys",
        "doctor": "doctor",
    },
}


# Errors that a user can resolve by choosing another path or running the command as another user.
FORBIDDEN: Final = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EISDIR, errno.ENOTDIR)


class Cli(LazyGroup):
    """Report errors of the referee and the file system as sentences instead of tracebacks."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except RefereeError as error:
            raise click.ClickException(replace_control_characters(as_sentence(str(error)))) from error
        except OSError as error:
            if error.errno not in FORBIDDEN or error.filename is None:
                raise
            raise click.ClickException(
                f"{replace_control_characters(str(error.filename))} cannot be used: {error.strerror}. Choose another "
                "path, or run the command as a user who has access to this one."
            ) from error
        except Exception as error:
            if not _is_damage(error):
                raise
            raise click.ClickException(
                f"The database is damaged ({getattr(error, 'orig', error)}). Stop the service and restore a backup."
            ) from error


def _is_damage(error: Exception) -> bool:
    """Return whether a database could not be read, without importing the engine for commands that use none."""
    engine = sys.modules.get("referee.db.engine")
    return engine is not None and bool(engine.is_damage(error))


def _show_version(ctx: click.Context, _option: click.Parameter, is_wanted: bool) -> None:
    """Show the version and exit. Click's own option would need it for every command."""
    if is_wanted and not ctx.resilient_parsing:
        click.echo(f"referee, version {referee.__version__}")
        ctx.exit()


@click.group(cls=Cli, package="referee.cli", members=COMMANDS, context_settings={"show_default": True})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version and exit.",
)  # fmt: skip
def main() -> None:
    """Run matches and tournaments of card-playing bots that answer over HTTP."""
