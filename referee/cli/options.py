"""Define options that several commands share, and convert library errors to usage errors (exit status 2)."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click
from click.core import ParameterSource

from referee.cli.plain_text import as_sentence
from referee.errors import BadOption, NoSuchGame, UrlRefused
from referee.games import catalogue
from referee.match.signing_keys import BadKey, KeyRing, parse_key, parse_keys
from referee.match.time_limits import Limits
from referee.protocol.signing import secret_bytes

Command = TypeVar("Command", bound=Callable[..., object])

FILE = click.Path(dir_okay=False, path_type=Path)
PATH = click.Path(path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
FOLDER.name = "dir"  # the help shows it in capitals


class Number(click.IntRange):
    """Accept a whole number within inclusive bounds. The help shows ``unit`` in capitals in place of the number."""

    def __init__(self, low: int, high: int | None = None, *, unit: str = "n") -> None:
        super().__init__(low, high)
        self.name = unit


NO_LIMITS = Limits(budget_ms=600_000, bank_ms=3_600_000)  # the longest that a question may announce
PORT = Number(0, 65535, unit="port")


@contextmanager
def usage_errors() -> Iterator[None]:
    """Convert errors about a game, player, address or option to ``click.UsageError``."""
    try:
        yield
    except BadOption as error:
        raise click.UsageError(as_sentence(error.reason if error.field == "players" else str(error))) from error
    except (UrlRefused, NoSuchGame) as error:
        raise click.UsageError(as_sentence(error.reason if isinstance(error, UrlRefused) else str(error))) from error


def validate_secret(_context: click.Context, _parameter: click.Parameter, secret: str | None) -> str | None:
    """Return the secret, or None if there is none. Raise ``click.BadParameter`` if it cannot be used for signing."""
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


def choice_of(members: Iterable[str]) -> click.Choice[str]:
    """Return a parameter type that accepts the values of ``members``; of an enum, click itself would expect names."""
    return click.Choice([str(member) for member in members])


def parse_key_option(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> KeyRing | None:
    """Return the public keys that are given as texts or as files, or None if none is given.

    Raise ``click.BadParameter`` for what is neither.
    """
    keys = []
    for text in given:
        try:
            keys += [parse_key(text)] if not Path(text).is_file() else parse_keys(Path(text).read_text())
        except (BadKey, OSError, ValueError) as error:
            raise click.BadParameter(f"{error}. Pass a public key or a file with public keys.") from error
    return KeyRing(keys) if keys else None


def key_option(help: str) -> Callable[[Command], Command]:
    """Add ``--key``, the public keys with which signatures of logs are checked, passed as ``keys``."""
    return click.option(
        "--key",
        "keys",
        metavar="KEY|FILE",
        multiple=True,
        callback=parse_key_option,
        help=f"{help} A key is 64 hex digits, with or without ed25519: before them; a FILE has one in each line, or is "
        "what GET /api/v1/keys returned. Repeatable.",
    )


def json_option(command: Command) -> Command:
    """Add ``--json``, passed as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")(command)


def data_option(command: Command) -> Command:
    """Add ``--data``, the data directory that a command reads or writes."""
    return click.option(
        "--data", type=FOLDER, help="Data directory of the service. [default: $REFEREE_DATA, else ./referee-data]"
    )(command)


def time_options(command: Command) -> Command:
    """Add ``--budget-ms``, ``--bank-ms`` and ``--no-time-limits``, for ``read_limits``."""
    budget = click.option(
        "--budget-ms",
        type=Number(1, 600_000, unit="ms"),
        default=Limits().budget_ms,
        help="Thinking time per decision, in milliseconds.",
    )
    bank = click.option(
        "--bank-ms",
        type=Number(0, 3_600_000, unit="ms"),
        default=Limits().bank_ms,
        help="Extra thinking time per match, in milliseconds, used when a decision exceeds its budget.",
    )
    return budget(bank(no_limits_option(command)))


def no_limits_option(command: Command) -> Command:
    """Add ``--no-time-limits``."""
    return click.option(
        "--no-time-limits",
        is_flag=True,
        help="Wait for each answer for more than an hour, for example while a debugger has stopped the bot.",
    )(command)


def read_limits(budget_ms: int, bank_ms: int, no_time_limits: bool) -> Limits:
    """Return the time limits that the options name.

    Raise ``click.UsageError`` if ``--no-time-limits`` is combined with one of the others.
    """
    if not no_time_limits:
        return Limits(budget_ms, bank_ms)
    source_of = click.get_current_context().get_parameter_source
    if any(source_of(name) is ParameterSource.COMMANDLINE for name in ("budget_ms", "bank_ms")):
        raise click.UsageError("Pass --no-time-limits, or --budget-ms and --bank-ms, but not both.")
    return NO_LIMITS


def games_option(help: str) -> Callable[[Command], Command]:
    """Add ``--game``, which names games and is passed as ``games``."""
    return click.option("--game", "games", multiple=True, type=click.Choice(sorted(catalogue())), help=help)


def game_options(command: Command) -> Command:
    """Add ``--option``, which sets an option of the game with a text like ``rounds=3`` and is passed as ``given``."""
    return click.option(
        "--option",
        "given",
        metavar="NAME=VALUE",
        multiple=True,
        help="Set an option of the game, like rounds=3. Repeatable; `referee games` lists all options.",
    )(command)
