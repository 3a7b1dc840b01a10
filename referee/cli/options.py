"""Options that several commands share, and conversion of library errors to usage errors (exit status 2)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from referee.errors import BadOption, NoSuchGame, UrlRefused
from referee.local.matches import NoSuchPlayer
from referee.match.time_limits import Limits
from referee.protocol.signing import secret_bytes

Command = TypeVar("Command", bound=Callable[..., object])


@contextmanager
def usage_errors() -> Iterator[None]:
    """Raise ``click.UsageError`` for a game, player, address or option that the library refuses."""
    try:
        yield
    except BadOption as error:
        raise click.UsageError(error.reason if error.field == "players" else str(error)) from error
    except UrlRefused as error:
        raise click.UsageError(error.reason) from error
    except (NoSuchGame, NoSuchPlayer) as error:
        raise click.UsageError(str(error)) from error


def validate_secret(_context: click.Context, _parameter: click.Parameter, secret: str | None) -> str | None:
    """Return the secret; raise ``click.BadParameter`` if it cannot sign."""
    if secret is not None:
        try:
            secret_bytes(secret)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    return secret


def secret_option(help: str) -> Callable[[Command], Command]:
    """Add ``--secret``, the secret that signs the calls to bots."""
    return click.option(
        "--secret",
        metavar="WHSEC",
        envvar="REFEREE_BOT_SECRET",
        callback=validate_secret,
        help=f"{help} It begins with whsec_. [default: $REFEREE_BOT_SECRET]",
    )


def data_option(command: Command) -> Command:
    """Add ``--data``, the data directory that a command reads or writes."""
    return click.option(
        "--data",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Data directory of the service. [default: $REFEREE_DATA, else ./referee-data]",
    )(command)


def time_options(command: Command) -> Command:
    """Add ``--budget-ms`` and ``--bank-ms``, the thinking time in local matches."""
    budget = click.option(
        "--budget-ms",
        type=click.IntRange(1, 600_000),
        metavar="MS",
        default=Limits().budget_ms,
        show_default=True,
        help="Thinking time per decision, in milliseconds.",
    )
    bank = click.option(
        "--bank-ms",
        type=click.IntRange(0, 3_600_000),
        metavar="MS",
        default=Limits().bank_ms,
        show_default=True,
        help="Extra thinking time per match, in milliseconds, used when a decision exceeds its budget.",
    )
    return budget(bank(command))


def game_options(command: Command) -> Command:
    """Add ``--option``, the options of a game as texts like ``rounds=3``."""
    return click.option(
        "--option",
        "given",
        metavar="NAME=VALUE",
        multiple=True,
        help="Set an option of the game, like rounds=3. Repeatable; `referee games` lists all options.",
    )(command)
