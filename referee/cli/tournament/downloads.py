"""Implement `referee tournament logs` and `results`, which download all logs or all results of a tournament."""

import csv
import io
import re
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO

import click

from referee.cli.api_client import Api, ApiRefusal, ApiUnreachable
from referee.cli.log_files import StoredLog, verify_stored_log
from referee.cli.options import FILE, PATH
from referee.cli.progress import UpdateBar, progress_bar
from referee.cli.tables import TextTable
from referee.cli.tournament.gzip_log import split_logs
from referee.cli.tournament.remote import Remote, RequestRefused, is_transient, tournament_command
from referee.match.canonical import Json

CHUNK_BYTES = 64 << 10
ATTEMPTS = 7  # maximum number of consecutive attempts without a new log
PAUSE_S = 0.5  # before the second attempt; doubled before each further one
FAILURES_SHOWN = 20
COLUMNS = ("tournament_round", "table", "leg", "match", "seat", "name", "placement", "returns", "status", "reason")
TEXT_COLUMNS = ("match", "name", "status", "reason")


@dataclass(slots=True)
class DownloadReport:
    """Count the logs in the downloaded file, and collect those that fail verification."""

    path: Path
    verifies: bool
    logs: int = 0
    last: str = ""  # id of the last match in the file
    end: int = 0  # offset at which its log ends, in bytes
    verified: int = 0
    broken_off: int = 0  # incomplete logs of cancelled matches
    left_out: int = 0  # logs that are not public yet
    failed: list[Json] = field(default_factory=list)

    def add(self, log: StoredLog) -> None:
        self.logs, self.last, self.end = self.logs + 1, log.match, log.end
        if not self.verifies:
            return
        found = verify_stored_log(log)
        if not found.is_valid:
            self.failed.append({"match": log.match, "row": found.row, "reason": found.reason})
        elif found.is_cut_short:
            self.broken_off += 1
        elif found.report.revealed:
            self.verified += 1
        else:
            reason = "the reveal row is missing"
            self.failed.append({"match": log.match, "row": found.report.rows, "reason": reason})


@tournament_command(example="--out cup.ndjson.gz --verify")
@click.option("--out", type=PATH, help="File or directory to write to. [default: a file named after the tournament]")
@click.option(
    "--zip", "zipped", is_flag=True, help="Write a zip with one file per match. This download cannot be resumed."
)
@click.option("--verify", "verifies", is_flag=True, help="Verify every log: rules, legality, links, deals and result.")
def logs(remote: Remote, tournament_id: str, out: Path | None, zipped: bool, verifies: bool) -> None:
    """Download the logs of a tournament.

    All available logs are written to one gzip file of JSON lines. If the file exists, for example after an
    interruption, the download continues at its end. With --verify the exit status is 1 if any log fails.
    """
    tournament = remote.api.get(f"/tournaments/{tournament_id}")
    report = DownloadReport(_choose_path(tournament, out, ".zip" if zipped else ".ndjson.gz"), verifies)
    with progress_bar("logs") as update:
        fetch = _fetch_zip if zipped else _fetch_stream
        fetch(remote.api, tournament["id"], report, update)
    _show_report(remote, report)


@tournament_command(example="--csv > cup.csv")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, for spreadsheets and programs.")
@click.option("--out", type=FILE, help="Write the results to FILE as CSV.")
def results(remote: Remote, tournament_id: str, as_csv: bool, out: Path | None) -> None:
    """Show all results.

    There is a row for each seat of each match, in the order in which the matches ended. --csv and --json have more
    columns.
    """
    path = f"/api/v1/tournaments/{tournament_id}/results.csv"
    if out is not None:
        with remote.api.stream(path) as response, out.open("wb") as file:
            file.writelines(_chunks(response))
        remote.show({"file": str(out), "bytes": out.stat().st_size}, f"{out}: {out.stat().st_size} bytes")
        return
    text = remote.api.fetch(path).decode()
    if as_csv and not remote.as_json:
        click.echo(text, nl=False)
        return
    items = list(csv.DictReader(io.StringIO(text, newline="")))
    table = TextTable(COLUMNS, [[item[column] for column in COLUMNS] for item in items], left=TEXT_COLUMNS)
    remote.show({"items": items}, table.plain() if items else "No matches have been played yet.")


# -- the resumable file --


def _fetch_stream(api: Api, tournament_id: str, report: DownloadReport, update: UpdateBar) -> None:
    """Append the missing logs to the file.

    Resume if the connection breaks, up to ``ATTEMPTS`` times without progress.
    """
    report.path.touch()
    with report.path.open("r+b") as file:
        for log, _ in pairwise(split_logs(_chunks(file))):  # without the last log, which may be incomplete
            report.add(log)
        attempt = 0
        while True:
            before = report.logs
            try:
                _append(api, tournament_id, report, file, update)
                return
            except (ApiUnreachable, ApiRefusal) as error:
                attempt = 1 if report.logs > before else attempt + 1
                if not is_transient(error) or attempt == ATTEMPTS:
                    click.echo(
                        f"{report.path} has {report.logs} logs; run the same command to resume the download", err=True
                    )
                    raise
                time.sleep(PAUSE_S * 2**attempt / 2)


def _append(api: Api, tournament_id: str, report: DownloadReport, file: IO[bytes], update: UpdateBar) -> None:
    """Append the logs that follow those in the file.

    Write complete logs only, so that the file can be read at any time.
    """
    file.seek(report.end)
    file.truncate()
    after = f"?after={report.last}" if report.last else ""
    with api.stream(f"/api/v1/tournaments/{tournament_id}/logs{after}") as response:
        total = report.logs + int(response.headers.get("Referee-Logs", 0))
        report.left_out = int(response.headers.get("Referee-Left-Out", 0))
        for log in split_logs(_chunks(response), report.end):
            file.write(log.packed)
            file.flush()
            report.add(log)
            update(report.logs, total, "logs")


def _chunks(file: IO[bytes] | io.RawIOBase) -> Iterator[bytes]:
    return iter(lambda: file.read(CHUNK_BYTES) or b"", b"")


# -- the zip --


def _fetch_zip(api: Api, tournament_id: str, report: DownloadReport, update: UpdateBar) -> None:
    """Download the zip under a temporary name, and rename it once it is complete."""
    draft = report.path.with_name(report.path.name + ".part")
    with api.stream(f"/api/v1/tournaments/{tournament_id}/logs.zip") as response, draft.open("wb") as file:
        report.left_out = int(response.headers.get("Referee-Left-Out", 0))
        for chunk in _chunks(response):
            file.write(chunk)
    with zipfile.ZipFile(draft) as archive:
        listed = list(csv.DictReader(io.StringIO(archive.read("index.csv").decode(), newline="")))
        for row in listed:
            lines = archive.read(row["file"]).splitlines() if report.verifies and row["file"] else []
            report.add(StoredLog(row["match"], lines, row["status"]))
            update(report.logs, len(listed), "logs")
    draft.replace(report.path)


# -- the report --


def _choose_path(tournament: Json, out: Path | None, suffix: str) -> Path:
    name = re.sub(r"[^\w.-]+", "-", tournament["name"]).strip("-.").lower() + suffix
    if out is None:
        return Path(name)
    return out / name if out.is_dir() else out


def _show_report(remote: Remote, report: DownloadReport) -> None:
    size = report.path.stat().st_size
    document: Json = {"file": str(report.path), "bytes": size, "logs": report.logs, "left_out": report.left_out}
    lines = [f"{report.path}: {report.logs} logs, {size} bytes"]
    if report.verifies:
        document |= {"verified": report.verified, "broken_off": report.broken_off, "failed": report.failed}
        lines[0] += f", {report.verified} verified"
    if report.broken_off:
        lines.append(f"{report.broken_off} logs of cancelled matches are incomplete")
    if report.left_out:
        lines.append(f"{report.left_out} more are not public yet; the same command downloads them later")
    for failure in report.failed[:FAILURES_SHOWN]:
        lines.append(f"FAILED  {failure['match']}: row {failure['row']}: {failure['reason']}")
    remote.show(document, "\n".join(lines))
    if report.failed:
        raise RequestRefused(f"{len(report.failed)} of {report.logs} logs failed verification.")
