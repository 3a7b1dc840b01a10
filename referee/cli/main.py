"""Group all subcommands, and import the module of a subcommand only when it is used."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import click

import referee
from referee.cli.lazy_group import LazyGroup
from referee.cli.plain_text import as_sentence, replace_control_characters
from referee.errors import RefereeError

COMMANDS = {  # heading: {name of the command: (module, first paragraph of its help)}
    "First steps": {
        "new-bot": ("new_bot", "Write a starter bot into DIR, which must be new or empty, and show the next steps."),
        "play": ("play", "Play matches of GAME between PLAYERs on this machine."),
        "check": (
            "check",
            "Check the bot at URL: every decision of its games, signatures, and repeated or broken calls.",
        ),
    },
    "Games and house players": {
        "games": ("games", "List the games with their seats, options and bounds."),
        "rules": ("rules", "Show how GAME is played and what a bot may answer."),
        "house": ("groups", "Serve house players as bots, or measure how strong they are."),
    },
    "Logs of matches": {
        "replay": ("logs", "Narrate a match from its log."),
        "verify": ("logs", "Verify logs: rules, legality, links, deals, results and, with --key, signatures."),
    },
    "Use a service": {
        "login": ("login", "Open an account on a service, or use one that you have."),
        "whoami": ("login", "Show the account that commands use for a service, and where its token comes from."),
        "logout": ("login", "Delete the token that `referee login` saved for a service."),
        "recover": ("recover", "Get a new token for an account whose tokens are lost."),
        "register": ("register", "Register the bot at URL, have it checked, and practise."),
        "bots": ("groups", "List and show your bots, or move one to another URL."),
        "watch": ("watch", "Follow a match until it is over, and show its result."),
        "tournament": ("tournament", "Create, run, follow and download tournaments of a service."),
        "standings": ("standings", "Show the latest tournaments and the ladders, or the ladders of a month."),
        "api": ("api", "Send a request to the API of the service, and print the answer."),
    },
    "Run a service": {
        "up": ("up", "Run the service: API, workers, scheduler, and Redis if $REDIS_URL is not set."),
        "admin": (
            "groups",
            "Operate a service: accounts, stuck matches, the database, backups, keys and the deployment.",
        ),
    },
}


# Errors that a user can resolve by choosing another path or running the command as another user.
FORBIDDEN: Final = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EISDIR, errno.ENOTDIR)


class Cli(LazyGroup):
    """Report errors of the referee and the file system as sentences instead of tracebacks."""

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        with _errors_as_sentences():
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _errors_as_sentences():
            return super().invoke(ctx)


@contextmanager
def _errors_as_sentences() -> Iterator[None]:
    try:
        yield
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


@click.group(cls=Cli, members=COMMANDS, context_settings={"show_default": True})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version and exit.",
)  # fmt: skip
def main() -> None:
    """Run matches and tournaments of card-playing bots that answer over HTTP."""
