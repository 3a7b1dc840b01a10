"""Implement `referee tournament logs` and `results`, which download all logs or all results of a tournament."""

import csv
import io
from pathlib import Path
from typing import Any

import click

from referee.cli.options import FILE
from referee.cli.service.log_download import LogSource, download_logs, download_options
from referee.cli.service.log_files import read_chunks
from referee.cli.service.remote import Remote, tournament_command
from referee.cli.tables import TextTable

COLUMNS = ("tournament_round", "table", "leg", "match", "seat", "name", "placement", "returns", "status", "reason")
TEXT_COLUMNS = ("match", "name", "status", "reason")


@tournament_command(example="--out cup.ndjson.gz --verify")
@download_options
def logs(remote: Remote, tournament_id: str, **options: Any) -> None:
    """Download the logs of a tournament.

    All available logs are written to one gzip file of JSON lines. If the file exists, for example after an
    interruption, the download continues at its end. With --verify the exit status is 1 if any log fails.
    """
    tournament = remote.api.get(f"/tournaments/{tournament_id}")
    download_logs(remote, LogSource(f"/tournaments/{tournament['id']}", tournament["name"]), **options)


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
            file.writelines(read_chunks(response))
        remote.show({"file": str(out), "bytes": out.stat().st_size}, f"{out}: {out.stat().st_size} bytes")
        return
    text = remote.api.fetch(path).decode()
    if as_csv and not remote.as_json:
        click.echo(text, nl=False)
        return
    items = list(csv.DictReader(io.StringIO(text, newline="")))
    table = TextTable(COLUMNS, [[item[column] for column in COLUMNS] for item in items], left=TEXT_COLUMNS)
    remote.show({"items": items}, table.plain() if items else "No matches have been played yet.")
