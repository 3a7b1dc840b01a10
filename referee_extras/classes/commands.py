"""Implement `referee admin class`, which makes the accounts of a class and writes their tokens."""

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from referee.accounts.accounts import MAX_LIFETIME_DAYS
from referee.cli.options import FILE, Number
from referee.cli.plain_text import note
from referee.cli.service.api_client import ApiRefusal
from referee.cli.service.remote import Remote, RequestRefused, service_command
from referee.cli.tables import TextTable
from referee.match.canonical import Json
from referee_extras.classes.operations import MAX_NAMES

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
COLUMNS: Final = ("name", "account", "state", "token", "service")


NameLines = Sequence[tuple[int, str]]  # the number of each line, from 1, and the name in it


@service_command("class")
@click.argument("names", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", type=FILE, metavar="FILE", help="Write names and tokens as CSV to this new file.")
@click.option(
    "--new-tokens", is_flag=True, help="Give accounts that exist another token, and revoke those of earlier runs."
)
@click.option("--days", type=Number(1, MAX_LIFETIME_DAYS), help="Days after which the tokens expire. [default: never]")
@click.option("--service-url", metavar="URL", help="Address of the service for students. [default: that of --url]")
def create_accounts(
    remote: Remote,
    names: Path,
    out: Path | None,
    new_tokens: bool,
    days: int | None,
    service_url: str | None,
) -> None:
    """Create an account with a token for each line of the file NAMES.

    Blank lines and lines that begin with # are ignored. If a name is bad, all bad lines are reported and nothing is
    created. Accounts that exist are reported and get no token without --new-tokens, so the command can be run again
    with a longer list. Tokens are shown only once: in the file, which only you can read, or without --out on standard
    output.

    \b
    Example:
      referee admin class names.txt --out tokens.csv
    """
    lines = read_names(names)
    if out is not None:
        _refuse_existing(out)
    body: Json = {"names": [name for _, name in lines], "new_tokens": new_tokens, "expires_in_days": days}
    try:
        made = remote.api.post("/accounts/class", body)
    except ApiRefusal as error:
        raise _to_line_errors(error, names, lines) from error
    _hand_out(remote, made, (service_url or remote.api.url).rstrip("/"), out)


def _hand_out(remote: Remote, made: Json, service: str, out: Path | None) -> None:
    """Write the tokens to the file, or print them. Print the result."""
    members, table = made["items"], _to_csv(made["items"], service)
    if urlsplit(service).hostname in LOOPBACK:
        note(f"{service} is an address of this machine only; pass the one for students with --service-url.")
    if out is None:
        remote.show(made, table.rstrip("\n"))
        return
    _write(out, table)
    remote.show(_without_tokens(made), _format_states(members))
    note(f"{out} contains tokens, which are shown only once; hand each student only their own.")


def read_names(file: Path) -> NameLines:
    """Return the lines with names. Raise ``click.UsageError`` if there are none, or too many."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{file} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error
    stripped = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    lines = [(number, name) for number, name in stripped if name and not name.startswith("#")]
    if not lines:
        raise click.UsageError(f"{file} has no names. Write one name on each line.")
    if len(lines) > MAX_NAMES:
        raise click.UsageError(f"{file} has {len(lines)} names. Split it into files of at most {MAX_NAMES}.")
    return lines


def _refuse_existing(file: Path) -> None:
    if file.exists():
        raise click.UsageError(f"{file} exists already, and tokens in it would be lost. Pass a new file.")
    if not file.absolute().parent.is_dir():
        raise click.UsageError(f"{file.absolute().parent} is not a folder. Create it first, or pass another file.")


def _to_line_errors(error: ApiRefusal, file: Path, lines: NameLines) -> Exception:
    """Return the refusal with the lines of the file in place of the places in the list, if it is about names."""
    found = []
    for field, reason in error.fields:
        place = field.removeprefix("names.")
        if not place.isdecimal() or int(place) >= len(lines):
            return error
        number, name = lines[int(place)]
        found.append(f"{file}, line {number}: {name!r} {reason[:1].lower()}{reason[1:].rstrip('.')}")
    if not found:
        return error
    return RequestRefused("\n".join([*found, "Nothing was created. Correct these lines and run the command again."]))


def _to_csv(members: Sequence[Json], service: str) -> str:
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    for member in members:
        account, token = member["account"], member["token"]
        rows.writerow([account["name"], account["id"], _state(member), token["token"] if token else "", service])
    return out.getvalue()


def _state(member: Json) -> str:
    if member["is_new"]:
        return "created"
    return "exists, new token" if member["token"] else "exists"


def _format_states(members: Sequence[Json]) -> str:
    heads = ["name", "account", "state"]
    rows = [[member["account"]["name"], member["account"]["id"], _state(member)] for member in members]
    return TextTable(heads, rows, left=heads).plain()


def _without_tokens(made: Json) -> Json:
    return {**made, "items": [{**member, "token": None} for member in made["items"]]}


def _write(file: Path, text: str) -> None:
    """Write a new file that only its owner can read, or print the text if that fails, so that no token is lost."""
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        note(f"{file} cannot be written ({error.strerror}); its content follows.")
        click.echo(text)
