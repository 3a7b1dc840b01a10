"""`referee audit`: everything stored compared with what follows from the logs; with ``--repair``, put right."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from referee.cli.options import data_option
from referee.db.engine import LONG_IDLE_S, Database
from referee.ladders import audit as auditing
from referee.ladders import repairs
from referee.ladders.audit import Difference
from referee.ladders.repairs import RepairReport
from referee.runtime.installation import record_of

SHOWN = 100
KEPT = 10_000  # differences told in JSON
MOST_ROUNDS = 3  # of repairs: what is put right on one ladder may show what is wrong on another


@click.command()
@data_option
@click.option("--repair", is_flag=True, help="Correct ratings and counts that do not follow from the ledger.")
@click.option("--read-only", is_flag=True, help="Do not freeze ladders whose numbers differ.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def audit(data: Path | None, *, repair: bool, read_only: bool, as_json: bool) -> None:
    """Replay all logs, recompute all ratings, and compare them with the database.

    A ladder whose numbers differ is frozen until --repair put it right: results are recorded, ratings stand still.
    The exit status is 1 when anything differs (with --repair: when anything still does).
    """
    if repair and read_only:
        raise click.UsageError("--repair changes the database and cannot be combined with --read-only.")
    settings, database = record_of(data)
    found, count = _find_differences(database)
    frozen = [] if read_only else _freeze_ladders(database, found)
    mended: list[RepairReport] = []
    left, count_left = found, count
    for _ in range(MOST_ROUNDS if repair else 0):
        again = _repair_ladders(database, left)
        if not again:
            break
        mended += again
        left, count_left = _find_differences(database)
        if not _freeze_ladders(database, left):
            break
    database.dispose()
    if as_json:
        click.echo(json.dumps(_as_json(found, frozen, mended, left)))
    else:
        _tell(settings.data_dir, left, count_left, mended, frozen)
    sys.exit(1 if count_left else 0)


def _find_differences(database: Database) -> tuple[list[Difference], int]:
    """The first differences, and how many there are."""
    with database.read(idle_s=LONG_IDLE_S) as session, _bar(auditing.size(session)) as step:
        differences = auditing.audit(session, step)
        found = list(islice(differences, KEPT))
        return found, len(found) + sum(1 for _ in differences)


def _freeze_ladders(database: Database, found: list[Difference]) -> list[str]:
    if not any(one.ladder_id for one in found):
        return []
    with database.write() as session:
        return repairs.freeze(session, found)


def _repair_ladders(database: Database, found: list[Difference]) -> list[RepairReport]:
    with database.read() as session:
        frozen = repairs.in_doubt(session)
    doubted = repairs.doubtful_matches(found) if len(found) < KEPT else None
    mended = []
    for ladder_id in frozen:
        with database.write(idle_s=LONG_IDLE_S) as session:
            mended.append(repairs.repair(session, ladder_id, matches=doubted))
    return mended


def _tell(folder: Path, left: list[Difference], count: int, mended: list[RepairReport], frozen: list[str]) -> None:
    for one in mended:
        click.echo(f"ladder {one.ladder_id} repaired by act {one.seq}: {one.reason}")
    for difference in left[:SHOWN]:
        click.echo(str(difference))
    if count > SHOWN:
        click.echo(f"… and {count - SHOWN} more")
    if frozen and not mended:
        click.echo(f"frozen until `referee audit --repair`: {', '.join(frozen)}")
    click.echo(f"{folder}: " + ("the record holds" if not count else f"{count} differences"))


def _as_json(
    found: list[Difference], frozen: list[str], mended: list[RepairReport], left: list[Difference]
) -> dict[str, object]:
    return {
        "holds": not left,
        "differences": [_row(one) for one in found],
        "frozen": [] if mended else frozen,
        "repaired": [{"ladder": one.ladder_id, "seq": one.seq, "done": one.done} for one in mended],
        "left": [_row(one) for one in left],
    }


def _row(one: Difference) -> dict[str, str | None]:
    row = {"what": one.what, "id": one.id, "stored": one.stored, "expected": one.expected}
    return {**row, "ladder": one.ladder_id}


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], None]]:
    """Progress on standard error, where somebody watches."""
    console = Console(stderr=True)
    columns = (TextColumn("auditing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("auditing", total=total)
        yield lambda more: progress.advance(task, more)
