"""Implement `referee admin audit`, which compares a database, or the public ladders of a service, with the logs."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import click
from sqlalchemy.orm import Session

import referee.schema  # noqa: F401  # flushing needs all tables, because their foreign keys refer to each other
from referee.audit import database_audit, repairs, stored_matches
from referee.audit.findings import Difference, Findings
from referee.audit.repairs import RepairReport
from referee.cli.options import FILE, data_option, json_option, key_option
from referee.cli.plain_text import replace_control_characters
from referee.cli.progress import progress_bar
from referee.cli.public_audit import LadderAudit, PublicAudit
from referee.cli.service.api_client import Api
from referee.cli.service.remote import errors_as_sentences
from referee.db.engine import LONG_IDLE_S, Database
from referee.master_keys import key_ring
from referee.match.signing_keys import KeyRing, PublicKey, SigningKey
from referee.matches.logs import chain
from referee.runtime.service_database import open_database
from referee.settings import Settings

MAX_SHOWN = 100
INTERRUPTED = 130  # the exit status


@click.command()
@data_option
@click.option("--repair", is_flag=True, help="Recompute ratings that do not follow from the ledger and the results.")
@click.option("--read-only", is_flag=True, help="Do not freeze ladders whose numbers differ.")
@click.option(
    "--url", metavar="URL", help="Audit the public ladders of this service instead, like http://127.0.0.1:8000."
)
@click.option(
    "--ladder",
    "ladders",
    metavar="LADDER",
    multiple=True,
    help="With --url: only this ladder, by name or id. Repeatable.",
)
@click.option(
    "--resume",
    type=FILE,
    help="With --url: remember verified logs and the head of the chain of signatures in FILE. The next run skips these "
    "logs and requires that the chain still contains this head.",
)
@key_option("With --url: check signatures with this public key, not with those that the service publishes.")
@json_option
def audit(
    data: Path | None,
    *,
    repair: bool,
    read_only: bool,
    url: str | None,
    ladders: tuple[str, ...],
    resume: Path | None,
    keys: KeyRing | None,
    as_json: bool,
) -> None:
    """Replay all logs, recompute all ratings, and compare them with the database.

    It also checks the signatures. With --url, anybody can audit the ladders of a service from its public files: the
    ledger must lead to the ratings that are shown, bit for bit, the log of every rated match must be valid, signed, and
    agree with the ledger, and the signatures must form one chain. Ctrl-C ends the audit with a report of what was found
    so far.

    Logs that were pruned are signed, but not replayable; they are counted apart.

    A ladder whose numbers differ is frozen: results are still recorded, but ratings do not change. --repair recomputes
    the ratings from the ledger and the results. If these are damaged themselves, the ladder stays frozen until you
    restore a backup. The exit status is 1 if anything differs (with --repair, if anything still does).
    """
    if repair and read_only:
        raise click.UsageError("--repair changes the database and cannot be combined with --read-only.")
    if url is None and (ladders or resume or keys):
        raise click.UsageError("--ladder, --resume and --key need --url.")
    if url is not None:
        if data or repair or read_only:
            raise click.UsageError("--url reads a service; --data, --repair and --read-only are for a database.")
        _audit_service(url, ladders, resume, keys, as_json=as_json)
    settings, database = open_database(data)
    found = left = _find_differences(database, settings)
    frozen = [] if read_only else _freeze_ladders(database, found)
    repaired = _repair_ladders(database, found) if repair else []
    if repaired:
        left = _find_differences(database, settings)
        frozen = _freeze_ladders(database, left)
    with database.read(idle_s=LONG_IDLE_S) as session:
        not_replayable = stored_matches.count_not_replayable(session)
    database.dispose()
    if as_json:
        click.echo(json.dumps({**_to_json(found, frozen, repaired, left), "not_replayable": not_replayable}))
    else:
        if not_replayable:
            click.echo(f"{not_replayable} logs are signed, not replayable: pruned, or of a game that is not installed.")
        _print_findings(settings.data_dir, left, repaired, frozen)
    sys.exit(1 if left.count else 0)


# -- a service --


def _audit_service(
    url: str, ladders: Sequence[str], resume: Path | None, keys: KeyRing | None, *, as_json: bool
) -> NoReturn:
    """Audit ladders of a service and exit: with 1 if anything differs, with 3 if the service does not answer.

    After Ctrl-C, report what was found so far and exit with 130.
    """
    with errors_as_sentences(as_json), Api(url) as api:
        audited = PublicAudit(api, resume, keys)
        try:
            audited.run(ladders)
        except KeyboardInterrupt:
            audited.is_interrupted = True
    if as_json:
        click.echo(json.dumps(audited.to_json()))
    else:
        _print_service(url, audited)
    if audited.is_interrupted:
        sys.exit(INTERRUPTED)
    sys.exit(0 if audited.holds else 1)


def _print_service(url: str, audited: PublicAudit) -> None:
    if audited.is_interrupted:
        click.echo("PARTIAL: Ctrl-C ended the audit; this is what it had found.")
    if not audited.has_chain:
        click.echo("chain of signatures: not verified")
        return
    _print_chain(audited)
    for report in audited.ladders:
        _print_ladder(report)
    if not audited.ladders and not audited.is_interrupted:
        click.echo(f"{url} has no ladders.")


def _print_chain(audited: PublicAudit) -> None:
    differences, head = audited.chain.differences, audited.chain.head
    _print_differences(differences, len(differences))
    said = "no entries" if not differences else "not verified"
    if head is not None:
        checked = "keys given" if audited.has_given_keys else "keys of the service itself; pass --key to check them"
        said = f"{head.number} entries, head {head.digest} ({checked}): {_count(len(differences))}"
    click.echo(replace_control_characters(f"chain of signatures: {said}"))


def _print_ladder(report: LadderAudit) -> None:
    _print_differences(report.found.first, report.found.count)
    logs = f"{report.verified} logs verified" + (f", {report.skipped} earlier" if report.skipped else "")
    logs += f", {report.deleted} signed, not replayable" if report.deleted else ""
    found = _count(report.found.count)
    if not report.is_complete:
        logs, found = f"{logs} of {report.results} results", f"{found} so far"
    click.echo(replace_control_characters(f"{report.name}: {report.entries} ledger entries, {logs}: {found}"))


def _print_differences(first: Sequence[Difference], count: int) -> None:
    for difference in first[:MAX_SHOWN]:
        click.echo(replace_control_characters(str(difference)))
    if count > MAX_SHOWN:
        click.echo(f"… and {count - MAX_SHOWN} more differences")


def _count(differences: int) -> str:
    return f"{differences} differences" if differences else "no differences"


# -- a database --


def _find_differences(database: Database, settings: Settings) -> Findings:
    with database.read(idle_s=LONG_IDLE_S) as session, progress_bar("auditing") as update:
        total, done = database_audit.count_items(session), 0

        def step(more: int) -> None:
            nonlocal done
            done += more
            update(done, total, "auditing")

        found = Findings()
        found.add(database_audit.audit(session, step, key=_current_key(session, settings)))
        return found


def _current_key(session: Session, settings: Settings) -> PublicKey:
    """Return the key that signed last, if it is one of the settings, or else the one that will sign next."""
    head = chain.find_head(session)
    keys = [SigningKey.derive(key).public for key in key_ring(settings.master_key)]
    return next((key for key in keys if head is not None and key.id == head.key), keys[0])


def _freeze_ladders(database: Database, found: Findings) -> list[str]:
    if not found.worst:
        return []
    with database.write() as session:
        return repairs.freeze_ladders(session, found.worst.values())


def _repair_ladders(database: Database, found: Findings) -> list[RepairReport]:
    """Repair the frozen ladders whose ledger and results are not damaged."""
    with database.read() as session:
        frozen = repairs.list_frozen(session)
    repaired = []
    for ladder_id in sorted(set(frozen) - set(found.damaged)):
        with database.write(idle_s=LONG_IDLE_S) as session:
            repaired.append(repairs.repair_ladder(session, ladder_id))
    return repaired


def _print_findings(folder: Path, left: Findings, repaired: list[RepairReport], frozen: list[str]) -> None:
    for repair in repaired:
        click.echo(f"Ladder {repair.ladder_id} was repaired by ledger entry {repair.seq}: {repair.reason}")
    _print_differences(left.first, left.count)
    repairable = [ladder_id for ladder_id in frozen if ladder_id not in left.damaged]
    if repairable:
        click.echo(f"These ladders are frozen until you run `referee admin audit --repair`: {', '.join(repairable)}")
    if left.damaged:
        click.echo(
            "The ledger or the results of these ladders are damaged, which no repair corrects. They must stay frozen "
            f"until you restore a backup with `referee admin restore`: {', '.join(left.damaged)}"
        )
    click.echo(f"{folder}: {_count(left.count)}")


def _to_json(found: Findings, frozen: list[str], repaired: list[RepairReport], left: Findings) -> dict[str, object]:
    return {
        "holds": not left.count,
        "differences": [asdict(difference) for difference in found.first],
        "frozen": frozen,
        "damaged": left.damaged,
        "repaired": [{"ladder": repair.ladder_id, "seq": repair.seq, "done": repair.repairs} for repair in repaired],
        "left": [asdict(difference) for difference in left.first],
    }
