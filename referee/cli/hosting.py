"""Run the program of a registered bot for `referee register --start`: start it with its secret and keep it running."""

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from referee.botclient.private_bots import is_address_of_this_host
from referee.cli.plain_text import note
from referee.errors import RefereeError
from referee.local.bot_files import BotProcess, host_bot, reserve_port
from referee.local.matches import find_program
from referee.match.canonical import Json

DEFAULT_PORT: Final = 9000
FREE_PORT: Final = 0
LOOPBACK: Final = ("127.0.0.1", "localhost")
EXITED: Final = 3  # the exit status if the program ends by itself

NewBot = Callable[[str, Path], tuple[Json, str]]  # registers the bot at a URL; returns it and its secret


class SecretMissing(RefereeError):
    """Signal that the secret of a registered bot is not in the expected file."""


@dataclass(frozen=True, slots=True)
class Program:
    """Hold the file of a bot's program and its digest, the file of its secret, and the port that it is to get, if one
    was given."""

    file: Path
    digest: str
    secret_file: Path
    port: int | None

    @classmethod
    def find(cls, path: Path, secret_file: Path | None, port: int | None) -> "Program":
        """Return the program at a path, or in a folder. Raise ``click.UsageError`` if there is none."""
        file = find_program(str(path))
        if file is None:
            raise click.UsageError(f"--start: {path} is neither a file nor a folder with a `bot.…`.")
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        return cls(file, digest, secret_file or file.parent / "secret.txt", port)

    def choose_ports(self, address: str | None) -> tuple[int, ...]:
        """Return the given port or, for an address of this machine, its port; else ``DEFAULT_PORT`` and a free one."""
        parts = urlsplit(address or "")
        if self.port is not None:
            return (self.port,)
        is_here = parts.hostname in LOOPBACK or choose_host(address) != LOOPBACK[0]
        return (parts.port,) if is_here and parts.port else (DEFAULT_PORT, FREE_PORT)

    def read_secret(self, name: str) -> str:
        """Return the secret of a bot that is registered already. Raise ``SecretMissing`` if it is not in the file."""
        try:
            secret = self.secret_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            secret = ""
        if not secret:
            raise SecretMissing(
                f"{name!r} is registered already, but its secret is not in {self.secret_file}. Pass the file with "
                "--secret-file, or give the bot a new secret on its page."
            )
        return secret

    def compare_with_checked(self, version: str) -> None:
        """Print a note if this version was first checked with another program. Remember the program of a new version.

        It is remembered beside the secret, as the digest of its file.
        """
        remembered = self.secret_file.with_suffix(".checked")
        digest, _, checked = remembered.read_text().strip().partition(" ") if remembered.exists() else ("", "", "")
        if checked != version:
            remembered.write_text(f"{self.digest} {version}\n")
        elif digest != self.digest:
            note(
                f"{self.file} changed since version {version} was checked, but calls itself version {version}: raise "
                "`version` in its manifest, so that its results are not taken for those of the program before."
            )


def choose_host(address: str | None) -> str:
    """Return where a program listens for a URL: on all addresses if the URL names one of this machine but loopback.

    The command itself looks on loopback whether the program answers.
    """
    try:
        literal = ip_address(urlsplit(address or "").hostname or "")
    except ValueError:
        return LOOPBACK[0]
    if literal.is_loopback or not is_address_of_this_host(literal):
        return LOOPBACK[0]
    return "::" if literal.version == 6 else "0.0.0.0"  # noqa: S104  # the user asked for an address of this machine


@contextmanager
def host_registered(
    program: Program, address: str | None, bot: Json | None, new_bot: NewBot
) -> Iterator[tuple[Json, BotProcess]]:
    """Start the program of ``bot`` with its secret, and yield the bot and its process, which ends after the block.

    If the bot is not registered yet, start its program without a secret first and register it when it answers, at
    ``address`` or, without one, at the program's address on this machine.
    """
    known = address or (bot["url"] if bot else None)
    host = choose_host(known)
    with reserve_port(*program.choose_ports(known)) as port:
        if bot is None:
            with host_bot(program.file, port, say=note, host=host) as running:
                port = running.port
                note(f"{program.file} answers on this machine, at {running.url}")
                bot, secret = new_bot(address or running.url, program.secret_file)
        else:
            secret = program.read_secret(bot["name"])
        output = sys.__stderr__.fileno() if sys.__stderr__ else None
        with host_bot(program.file, port, secret, note, output, host=host) as running:
            yield bot, running


def keep_running(running: BotProcess, name: str, url: str) -> int:
    """Wait until the program ends or Ctrl-C is pressed, and return the exit status of the command.

    ``url`` is where the service calls the bot; the command itself called the program on loopback.
    """
    try:
        note(f"{name} runs at {url} and plays its matches as long as this command runs; Ctrl-C stops it")
        status = running.process.wait()
    except KeyboardInterrupt:
        note(f"{name} is stopped. It stays registered; run the same command to start it again.")
        return 0
    note(f"{running.file} exited with status {status}; run the same command to start it again.")
    return EXITED
