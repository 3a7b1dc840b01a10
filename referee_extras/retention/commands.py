"""Implement `referee admin prune`, which deletes what the settings do not keep any longer."""

import json
from pathlib import Path
from typing import Final

import click

import referee.schema  # noqa: F401  # reading needs all tables, because their foreign keys refer to each other
from referee.cli.options import data_option
from referee.cli.tables import TextTable
from referee.db.engine import Database
from referee.errors import Conflict
from referee.runtime.service_database import open_database
from referee_extras.retention import compacting, pruning
from referee_extras.retention.pruning import Overdue, Pruner
from referee_extras.retention.rules import rules_of

MIB: Final = 1024 * 1024


@click.command()
@data_option
@click.option("--dry-run", is_flag=True, help="Say what would be deleted, and delete nothing.")
@click.option("--compact", is_flag=True, help="Give free pages of SQLite back to the disk. Stop the service first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def prune(data: Path | None, *, dry_run: bool, compact: bool, as_json: bool) -> None:
    """Delete what the settings REFEREE_KEEP_… do not keep any longer.

    It deletes in small portions, while the service runs. Results, ratings, signatures and the list of acts are never
    deleted, nor are logs of unfinished tournaments, of tournaments with prizes, of matches of the last 7 days, and of
    matches that somebody proposes to void. A log that was pruned is signed, but not replayable; a copy of it can still
    be verified. The scheduler prunes each night.

    The exit status is 1 if --compact fails, because there is no room or another process has the database open; the
    output says what was pruned before.
    """
    if dry_run and compact:
        raise click.UsageError("--dry-run changes nothing and cannot be combined with --compact.")
    settings, database = open_database(data)
    rules = rules_of(settings)
    try:
        with database.read() as session:
            overdue = pruning.list_overdue(session, rules)
        pruner = Pruner(database, rules)
        if not dry_run:
            pruner.run()
        freed, problem = _compact(database) if compact else (None, None)
    finally:
        database.dispose()
    if as_json:
        deleted = {kind: {"rows": rows, "bytes": size} for kind, (rows, size) in pruner.deleted.items()}
        click.echo(json.dumps({"overdue": [_as_json(row) for row in overdue], "deleted": deleted, "freed": freed}))
    else:
        click.echo(_describe(overdue, pruner, freed, dry_run=dry_run))
    if problem is not None:  # after what was pruned, which it does not change
        raise problem


def _compact(database: Database) -> tuple[int | None, Conflict | None]:
    """Return how many bytes were given back or, if the file could not be compacted, why."""
    try:
        return compacting.compact(database), None
    except Conflict as error:
        return None, error


def _describe(overdue: list[Overdue], pruner: Pruner, freed: int | None, *, dry_run: bool) -> str:
    lines = [_table(overdue).plain()]
    for kind, (rows, size) in pruner.deleted.items():
        lines.append(f"{kind.replace('_', ' ')}: {rows} pruned, {size / MIB:.1f} MiB")
    if dry_run:
        lines.append("Nothing was deleted (--dry-run).")
    elif not pruner.deleted:
        lines.append("There was nothing to delete.")
    if freed is not None:
        lines.append(f"{freed / MIB:.1f} MiB were given back to the disk.")
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
