"""Implement `referee admin prune`, which deletes what the settings do not keep any longer."""

import json
from pathlib import Path
from typing import Final

import click

import referee.schema  # noqa: F401  # reading needs all tables, because their foreign keys refer to each other
from referee.cli.options import data_option
from referee.cli.tables import TextTable
from referee.runtime.service_database import open_database
from referee_extras.retention import pruning
from referee_extras.retention.pruning import Overdue, Pruner
from referee_extras.retention.rules import rules_of

MIB: Final = 1024 * 1024


@click.command()
@data_option
@click.option("--dry-run", is_flag=True, help="Say what would be deleted, and delete nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def prune(data: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Delete what the settings REFEREE_KEEP_… do not keep any longer.

    It deletes in small portions, while the service runs. Results, ratings, signatures and the list of acts are never
    deleted, nor are logs of unfinished tournaments, of tournaments with prizes, of matches of the last 7 days, and of
    matches that somebody proposes to void. A log that was pruned is signed, but not replayable; a copy of it can still
    be verified. The scheduler prunes each night.
    """
    settings, database = open_database(data)
    rules = rules_of(settings)
    try:
        with database.read() as session:
            overdue = pruning.list_overdue(session, rules)
        pruner = Pruner(database, rules)
        if not dry_run:
            pruner.run()
    finally:
        database.dispose()
    if as_json:
        deleted = {kind: {"rows": rows, "bytes": size} for kind, (rows, size) in pruner.deleted.items()}
        click.echo(json.dumps({"overdue": [_as_json(row) for row in overdue], "deleted": deleted}))
    else:
        click.echo(_describe(overdue, pruner, dry_run=dry_run))


def _describe(overdue: list[Overdue], pruner: Pruner, *, dry_run: bool) -> str:
    lines = [_table(overdue).plain()]
    for kind, (rows, size) in pruner.deleted.items():
        lines.append(f"{kind.replace('_', ' ')}: {rows} pruned, {size / MIB:.1f} MiB")
    if dry_run:
        lines.append("Nothing was deleted (--dry-run).")
    elif not pruner.deleted:
        lines.append("There was nothing to delete.")
    return "\n".join(lines)


def _table(overdue: list[Overdue]) -> TextTable:
    rows = [
        (
            str(row.kind).replace("_", " "),
            str(row.rows),
            f"{row.oldest:%Y-%m-%d}" if row.oldest else "",
            f"{row.bytes / MIB:.1f}",
            row.rule,
        )
        for row in overdue
    ]
    return TextTable(("kind", "to prune", "oldest", "MiB", "rule"), rows, left=("kind", "rule"))


def _as_json(row: Overdue) -> dict[str, object]:
    oldest = row.oldest.isoformat() if row.oldest else None
    return {"kind": row.kind, "rows": row.rows, "bytes": row.bytes, "oldest": oldest, "rule": row.rule}
