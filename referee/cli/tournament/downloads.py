"""`referee tournament logs` and `results`: all logs of a tournament in one file, all results as a table."""

import csv
import io
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from referee.cli.api_client import Api, ApiRefusal, ApiUnreachable
from referee.cli.log_files import judge
from referee.cli.tables import Table
from referee.cli.tournament.gzip_log import DownloadedLog, logs_in
from referee.cli.tournament.remote import Refused, Remote, asks_service, is_passing, tournament_argument
from referee.match.canonical import Json

CHUNK_BYTES = 64 << 10
ATTEMPTS = 7  # in a row without a single log
PAUSE_S = 0.5  # before the second; it doubles
FAILURES_SHOWN = 20
COLUMNS = ("stage", "table", "leg", "match", "seat", "name", "placement", "returns", "status", "reason")
WORDS = ("match", "name", "status", "reason")


Show = Callable[[int, int], None]  # logs there, of so many


@dataclass(slots=True)
class DownloadReport:
    """What was downloaded, and what is wrong with it."""

    path: Path
    verifies: bool
    logs: int = 0
    last: str = ""  # the match up to which all is there
    end: int = 0  # of its log, in bytes
    verified: int = 0
    broken_off: int = 0  # matches that were cancelled in the middle; there is nothing to verify
    left_out: int = 0  # logs that are not open yet
    failed: list[Json] = field(default_factory=list)

    def add(self, log: DownloadedLog) -> None:
        self.logs, self.last, self.end = self.logs + 1, log.match, log.end
        if not self.verifies:
            return
        found = judge(log.lines, log.remark)
        if not found.holds:
            self.failed.append({"match": log.match, "row": found.row, "reason": found.reason})
        elif found.is_cut_short:
            self.broken_off += 1
        elif found.report.revealed:
            self.verified += 1
        else:
            reason = "the reveal row is missing"
            self.failed.append({"match": log.match, "row": found.report.rows, "reason": reason})


@click.command()
@tournament_argument
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="File or directory to write to. [default: a file named after the tournament]",
)
@click.option("--zip", "zipped", is_flag=True, help="Write a zip with one file per match; it cannot be resumed.")
@click.option("--verify", "verifies", is_flag=True, help="Check every log: rules, legality, links, deals, result.")
@asks_service
def logs(remote: Remote, tournament_id: str, out: Path | None, zipped: bool, verifies: bool) -> None:
    """Download the logs of a tournament.

    All available logs are written to one gzip file of JSON lines. If the file exists, the download continues where it
    ends, also after an interruption. With --verify the exit status is 1 if any log fails.

    \b
    Example:
      referee tournament logs "Spring cup" --out cup.ndjson.gz --verify
    """
    event = remote.api.get(f"/tournaments/{tournament_id}")
    account = DownloadReport(_place(event, out, ".zip" if zipped else ".ndjson.gz"), verifies)
    with _bar() as show:
        fetch = _fetch_zip if zipped else _fetch_stream
        fetch(remote.api, event["id"], account, show)
    _tell(remote, account)


@click.command()
@tournament_argument
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, for spreadsheets and programs.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the results to FILE as CSV."
)
@asks_service
def results(remote: Remote, tournament_id: str, as_csv: bool, out: Path | None) -> None:
    """Show all results.

    There is a row for each seat of each match, in the order in which the matches ended; --csv and --json have more
    columns.

    \b
    Example:
      referee tournament results "Spring cup" --csv > cup.csv
    """
    path = f"/api/v1/tournaments/{tournament_id}/results.csv"
    if out is not None:
        with remote.api.stream(path) as response, out.open("wb") as file:
            file.writelines(_chunks(response))
        remote.tell({"file": str(out), "bytes": out.stat().st_size}, f"{out}: {out.stat().st_size} bytes")
        return
    text = remote.api.fetch(path).decode()
    if as_csv and not remote.as_json:
        click.echo(text, nl=False)
        return
    heads, *rows = csv.reader(io.StringIO(text, newline=""))
    items = [dict(zip(heads, row, strict=True)) for row in rows]
    lines = [[item[column] for column in COLUMNS] for item in items]
    remote.tell(
        {"items": items}, Table(COLUMNS, lines, left=WORDS).plain() if lines else "No matches have been played yet."
    )


# -- the stream, resumed --


def _fetch_stream(api: Api, event_id: str, account: DownloadReport, show: Show) -> None:
    """Brings the file up to date; a line that breaks is taken up again."""
    account.path.touch()
    with account.path.open("r+b") as file:
        for log in _complete_logs(file):
            account.add(log)
        attempt = 0
        while True:
            before = account.logs
            try:
                _append(api, event_id, account, file, show)
                return
            except (ApiUnreachable, ApiRefusal) as error:
                attempt = 1 if account.logs > before else attempt + 1
                if not is_passing(error) or attempt == ATTEMPTS:
                    click.echo(f"{account.path} has {account.logs} logs; the same command goes on from there", err=True)
                    raise
                time.sleep(PAUSE_S * 2**attempt / 2)


def _complete_logs(file: IO[bytes]) -> Iterator[DownloadedLog]:
    """The logs that are surely whole: those before another."""
    return (log for log, _ in pairwise(logs_in(_chunks(file))))


def _append(api: Api, event_id: str, account: DownloadReport, file: IO[bytes], show: Show) -> None:
    """Whole logs only, so that the file can be read at any moment."""
    file.seek(account.end)
    file.truncate()
    after = f"?after={account.last}" if account.last else ""
    with api.stream(f"/api/v1/tournaments/{event_id}/logs{after}") as response:
        total = account.logs + int(response.headers.get("Referee-Logs", 0))
        account.left_out = int(response.headers.get("Referee-Left-Out", 0))
        for log in logs_in(_chunks(response), account.end):
            file.write(log.packed)
            file.flush()
            account.add(log)
            show(account.logs, total)


def _chunks(file: IO[bytes] | io.RawIOBase) -> Iterator[bytes]:
    return iter(lambda: file.read(CHUNK_BYTES) or b"", b"")


# -- the zip --


def _fetch_zip(api: Api, event_id: str, account: DownloadReport, show: Show) -> None:
    """Under another name until it is whole."""
    draft = account.path.with_name(account.path.name + ".part")
    with api.stream(f"/api/v1/tournaments/{event_id}/logs.zip") as response, draft.open("wb") as file:
        account.left_out = int(response.headers.get("Referee-Left-Out", 0))
        for chunk in _chunks(response):
            file.write(chunk)
    with zipfile.ZipFile(draft) as there:
        listed = list(csv.DictReader(io.StringIO(there.read("index.csv").decode(), newline="")))
        for row in listed:
            lines = there.read(row["file"]).splitlines() if account.verifies and row["file"] else []
            account.add(DownloadedLog(row["match"], 0, lines, remark=row["status"]))
            show(account.logs, len(listed))
    draft.replace(account.path)


# -- small things --


def _place(event: Json, out: Path | None, suffix: str) -> Path:
    name = re.sub(r"[^\w.-]+", "-", event["name"]).strip("-.").lower() + suffix
    if out is None:
        return Path(name)
    return out / name if out.is_dir() else out


@contextmanager
def _bar() -> Iterator[Show]:
    """Progress on standard error, where somebody watches."""
    console = Console(stderr=True)
    columns = (TextColumn("logs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("logs", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _tell(remote: Remote, account: DownloadReport) -> None:
    size = account.path.stat().st_size
    document: Json = {"file": str(account.path), "bytes": size, "logs": account.logs, "left_out": account.left_out}
    found = [f"{account.path}: {account.logs} logs, {size} bytes"]
    if account.verifies:
        document |= {"verified": account.verified, "broken_off": account.broken_off, "failed": account.failed}
        found[0] += f", {account.verified} hold"
    if account.broken_off:
        found.append(f"{account.broken_off} of matches that were cancelled break off")
    if account.left_out:
        found.append(f"{account.left_out} more are not open yet; the same command gets them later")
    found += [f"FAILED  {one['match']}: row {one['row']}: {one['reason']}" for one in account.failed[:FAILURES_SHOWN]]
    remote.tell(document, "\n".join(found))
    if account.failed:
        raise Refused(f"{len(account.failed)} of {account.logs} logs do not hold")
