"""`referee verify` and `referee replay`: what a log holds, checked and told. All that is needed is in the log."""

import sys
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import click

from referee.cli import replay_page
from referee.cli.api_client import Api, ApiRefusal, ApiUnreachable
from referee.cli.narrate import account
from referee.errors import RefereeError
from referee.games import game
from referee.matchlog import Report
from referee.matchlog import verify as verified
from referee.rows import parsed

LIMIT_BYTES = 256 << 20  # unpacked; the longest match of any game is far below


class Unreadable(RefereeError):
    """A file that is no log at all."""


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
def verify(files: tuple[str, ...]) -> None:
    """Check logs: rules, legality, links, deals, result.

    A FILE is NDJSON, also gzipped; - is standard input, a URL is fetched first. Says which row is wrong and why. The
    exit status is 1 when any log fails.
    """
    failed = 0
    for file in files:
        try:
            report = verified(lines(file))
        except Unreadable as error:
            click.echo(f"FAILED  {error}")
            failed += 1
            continue
        click.echo(f"{'ok' if report.ok else 'FAILED':<6}  {file}: {_finding(report)}")
        failed += not report.ok
    if len(files) > 1:
        click.echo(f"{len(files) - failed} of {len(files)} logs hold")
    sys.exit(1 if failed else 0)


@click.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PAGE",
    help="Write one HTML file that shows the match card by card and opens from disk, instead of telling it.",
)
def replay(file: str, html: Path | None) -> None:
    """Tell a match from its log, so that a person can follow it.

    FILE is NDJSON, also gzipped; - is standard input, a URL is fetched.
    """
    stored = lines(file)
    if html is not None:
        click.echo(replay_page.write(html, stored))
        return
    try:
        rows = [parsed(line) for line in stored if line.strip()]
        told = list(account(rows))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise Unreadable(f"{file} is not a match log; `referee verify` says where it is wrong ({error})") from error
    click.echo("\n".join(told))


def lines(file: str) -> list[bytes]:
    """The rows of a log file as stored; raises ``Unreadable``."""
    if file.startswith(("http://", "https://")):
        return _rows(_fetched(file))
    try:
        packed = sys.stdin.buffer.read(LIMIT_BYTES + 1) if file == "-" else Path(file).read_bytes()
        text = _unpacked(packed) if packed.startswith(b"\x1f\x8b") else packed
    except (OSError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Unreadable(f"{file}: cannot be read: {reason}") from error
    if len(text) > LIMIT_BYTES:
        raise Unreadable(f"{file}: longer than {LIMIT_BYTES >> 20} MiB, which no match is")
    return _rows(text)


def _fetched(url: str) -> bytes:
    """A log from a service; whatever it says is then checked like any other."""
    try:
        with Api(url) as api:
            return api.fetch(urlsplit(url).path)
    except (ApiRefusal, ApiUnreachable) as error:
        raise Unreadable(f"{url}: {error}") from error


def _rows(text: bytes) -> list[bytes]:
    rows = text.split(b"\n")
    return rows[:-1] if rows[-1] == b"" else rows


def _unpacked(packed: bytes) -> bytes:
    """At most one byte more than allowed, however much is packed; logs are packed in one member or in several."""
    parts: list[bytes] = []
    room = LIMIT_BYTES + 1
    while packed.startswith(b"\x1f\x8b") and room:
        member = zlib.decompressobj(wbits=31)
        parts.append(member.decompress(packed, room))
        room -= len(parts[-1])
        packed = member.unused_data
    return b"".join(parts)


def _finding(report: Report) -> str:
    if not report.ok:
        return f"row {report.row}: {report.reason}"
    sealed = "NOT REVEALED yet: without the seed the deals are unproven"
    deals = "deals follow from the revealed seed" if report.revealed else sealed
    placements = " ".join(map(str, report.placements))
    rules = game(report.game).rules_version
    return f"{report.game} (rules {rules}), {report.rows} rows, placements by seat {placements}; {deals}"
