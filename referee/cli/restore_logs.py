"""Implement `referee restore-logs`, which stores archived logs again."""

import sys
from pathlib import Path

import click

import referee.schema  # noqa: F401  # reading needs all tables, because their foreign keys refer to each other
from referee.cli.options import FOLDER, data_option, json_option
from referee.cli.output import show
from referee.cli.progress import progress_bar
from referee.db.engine import Database
from referee.match.canonical import Json
from referee.retention import pruning
from referee.retention.archive import LogArchive
from referee.retention.rules import WITH_LOGS, Rules, rules_of
from referee.runtime.service_database import open_database
from referee.workflows.log_restoring import RestoringReport, restore_logs


@click.command("restore-logs")
@click.argument("archive", type=FOLDER)
@click.argument("matches", metavar="[MATCH]...", nargs=-1)
@data_option
@click.option("--dry-run", is_flag=True, help="Compare the logs, and store nothing.")
@json_option
def restore_archived_logs(
    archive: Path, matches: tuple[str, ...], data: Path | None, *, dry_run: bool, as_json: bool
) -> None:
    """Store the logs in ARCHIVE again that were pruned: of each MATCH, by default all. The service may run.

    ARCHIVE is a folder that `referee prune --archive` wrote. A log is stored only if its checksum, replay, result and
    signature fit what the service kept; then it is shown, downloaded and audited as before. Others are named with the
    reason, and the exit status is 1. Logs that the service has are left as they are. The list of acts has each restored
    log.

    The next pruning deletes them again if they are too old for the settings REFEREE_KEEP_…, so change these first.
    """
    settings, database = open_database(data)
    try:
        with progress_bar("restoring") as update:
            report = restore_logs(
                database,
                LogArchive(archive),
                matches,
                dry_run=dry_run,
                step=lambda done, total: update(done, total, "restoring"),
            )
        overdue = 0 if dry_run else _count_overdue(database, rules_of(settings))
    finally:
        database.dispose()
    show(_as_json(report, overdue, dry_run=dry_run), _describe(report, overdue, dry_run=dry_run), as_json=as_json)
    sys.exit(1 if report.refused else 0)


def _count_overdue(database: Database, rules: Rules) -> int:
    with database.read() as session:
        return sum(row.rows for row in pruning.list_overdue(session, rules) if row.kind in WITH_LOGS)


def _describe(report: RestoringReport, overdue: int, *, dry_run: bool) -> str:
    verb = "can be restored" if dry_run else "restored"
    lines = [f"match {refusal.match}: not restored: {refusal.reason}" for refusal in report.refused]
    refused = f", {len(report.refused)} refused" if report.refused else ""
    lines.append(f"{len(report.restored)} logs {verb}, {report.kept} already there{refused}.")
    if overdue:
        lines.append(
            f"The next pruning deletes {overdue} logs (again), because they are too old or too many for the settings. "
            "To keep them, raise REFEREE_KEEP_LOGS or REFEREE_KEEP_LADDER_LOGS_DAYS."
        )
    if dry_run:
        lines.append("Nothing was stored (--dry-run).")
    return "\n".join(lines)


def _as_json(report: RestoringReport, overdue: int, *, dry_run: bool) -> Json:
    refused = [{"match": refusal.match, "reason": refusal.reason} for refusal in report.refused]
    counts = {"kept": report.kept, "refused": refused, "overdue": None if dry_run else overdue}
    return {"restored": report.restored, **counts, "dry_run": dry_run}
