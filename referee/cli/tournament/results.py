"""Implement `referee tournament results`, which shows or downloads all results of a tournament."""

import csv
import io
from pathlib import Path

import click

from referee.cli.options import FILE
from referee.cli.service.log_files import read_chunks
from referee.cli.service.remote import Remote, tournament_command
from referee.cli.tables import TextTable

COLUMNS = ("tournament_round", "table", "leg", "match", "seat", "name", "placement", "returns", "status", "reason")
TEXT_COLUMNS = ("match", "name", "status", "reason")


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
