"""Implement `referee admin backup` and `referee admin restore`."""

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click

import referee.schema  # noqa: F401  # reading needs all tables, because their foreign keys refer to each other
from referee.cli.audit import audit
from referee.cli.options import FILE, data_option, json_option
from referee.cli.output import show
from referee.db.revisions import describe_tables_left
from referee.match.canonical import Json
from referee.runtime.data_dir import DataDir
from referee.runtime.service_database import load_settings, open_database
from referee_extras.backups import backup as backups
from referee_extras.backups import restoring
from referee_extras.backups.backup import Inventory
from referee_extras.backups.restoring import Restored


@click.command()
@click.argument("file", type=FILE)
@data_option
@click.option("--check", "checks", is_flag=True, help="Read FILE, an existing backup, and say whether it is intact.")
@click.option("--json", "as_json", is_flag=True, help="Print the inventory as one JSON object instead of text.")
def backup(file: Path, data: Path | None, *, checks: bool, as_json: bool) -> None:
    """Write a consistent copy of the database to FILE, while the service runs.

    FILE must not exist. It does not contain the master key: keep that elsewhere, because both together reveal the cards
    of matches in progress. Redis needs no backup. `referee admin restore` puts the copy back.
    """
    if checks:
        inventory = backups.extract_copy(file, None)
    else:
        settings, database = open_database(data)
        try:
            inventory = backups.write_backup(database, settings.master_key, file)
        finally:
            database.dispose()
    if as_json:
        click.echo(json.dumps(asdict(inventory)))
    else:
        click.echo(f"{file} is {'intact' if checks else 'complete'}.\n{_describe(inventory)}")


@click.command()
@click.argument("file", type=FILE)
@data_option
@click.option("--replace", "replaces", is_flag=True, help="Replace the existing database. A file of SQLite is kept.")
@click.option("--audit/--no-audit", "audits", default=True, help="Replay all logs and ratings afterwards.")
@json_option
@click.pass_context
def restore(
    context: click.Context, file: Path, data: Path | None, *, replaces: bool, audits: bool, as_json: bool
) -> None:
    """Put the database of a backup in place. Stop the whole service first.

    Matches that were not over when the backup was made are cancelled, because they may have been played since, and
    their cards may be known; tournaments play them again with other cards. Everything after the backup is lost: bots
    and accounts made since must be made again, and tokens revoked since are valid again. The exit status is that of
    `referee admin audit`, which runs at the end. With --json, its document is printed on a line of its own, the second.
    """
    settings = load_settings(data)
    with ExitStack() as stack:
        if settings.database_url.startswith("sqlite:"):
            directory = DataDir(settings.data_dir)
            directory.acquire()
            stack.callback(directory.release)
        restored = restoring.restore(file, settings, replaces=replaces)
    show(_restored_json(restored), _describe_restored(file, restored), as_json=as_json)
    if audits:
        context.invoke(
            audit, data=data, repair=False, read_only=False, url=None, ladders=(), resume=None, as_json=as_json
        )


def _describe_restored(file: Path, restored: Restored) -> str:
    lines = [f"The database was restored from {file}.", _describe(restored.inventory)]
    if restored.replaced is not None:
        lines.append(f"The replaced database is {restored.replaced}.")
    lines += map(describe_tables_left, restored.uninstalled_extras)
    settled = restored.settled
    voided = f" and {len(settled.matches)} with the same cards voided" if settled.matches else ""
    count = f"{len(settled.cancelled)} open matches cancelled{voided}; {len(settled.rematches)} rematches arranged."
    return "\n".join([*lines, count])


def _restored_json(restored: Restored) -> Json:
    settled = restored.settled
    counts = {
        "cancelled_matches": len(settled.cancelled),
        "voided_matches": len(settled.matches),
        "rematches": len(settled.rematches),
    }
    replaced = None if restored.replaced is None else str(restored.replaced)
    left = list(restored.uninstalled_extras)
    return {"inventory": asdict(restored.inventory), "replaced": replaced, **counts, "uninstalled_extras": left}


def _describe(inventory: Inventory) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in inventory.counts.items())
    return (
        f"Made at {inventory.created_at} from a database of {inventory.database}, with schema {inventory.schema} of "
        f"Referee {inventory.program_version}: {counts}; {inventory.size_bytes:,} bytes."
    )
