"""Store archived logs again, after their checksum, replay and signature were compared with what the service kept."""

import gzip
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.orm import Session

from referee.accounts.act_kinds import ActKind
from referee.accounts.acts import record_act
from referee.db.engine import Database
from referee.errors import BadLog
from referee.ladders import audit
from referee.match.signature import BadSignature, check_belongs, parse_signature, split_signature
from referee.matches import chain, log_pruning
from referee.matches.tables import StoredMatch
from referee.retention.archive import ArchivedLog, ArchiveError, LogArchive

LOGS_PER_PORTION: Final = 50


@dataclass(frozen=True, slots=True)
class RefusedLog:
    """Say why a log was not stored."""

    match: str
    reason: str


@dataclass(slots=True)
class RestoringReport:
    """Count the logs that were stored and those that the service has, and list those that do not fit."""

    restored: list[str] = field(default_factory=list)  # ids of matches
    kept: int = 0
    refused: list[RefusedLog] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _FittingLog:
    archived: ArchivedLog
    lines: list[bytes]


def restore_logs(
    database: Database,
    archive: LogArchive,
    match_ids: Sequence[str] = (),
    *,
    dry_run: bool = False,
    step: Callable[[int, int], None] = lambda done, total: None,
) -> RestoringReport:
    """Store the archived logs of these matches, or all, that were deleted. Call ``step`` with how many are done of all.

    With ``dry_run``, compare only. Raise ``ArchiveError`` if the archive cannot be read or lacks one of ``match_ids``;
    then nothing was stored. Each portion is one transaction, so an interrupted run is simply started again.
    """
    chosen, report = _choose(archive, match_ids), RestoringReport()
    for start in range(0, len(chosen), LOGS_PER_PORTION):
        portion = chosen[start : start + LOGS_PER_PORTION]
        with database.read() as session:
            fitting = [log for archived in portion if (log := _read_fitting(session, archive, archived, report))]
        if dry_run:
            report.restored += [log.archived.match for log in fitting]
        elif fitting:
            with database.write() as session:
                stored = [log.archived.match for log in fitting if _store(session, log)]
            report.restored += stored
            report.kept += len(fitting) - len(stored)
        step(len(report.restored) + report.kept + len(report.refused), len(chosen))
    return report


def _choose(archive: LogArchive, match_ids: Sequence[str]) -> list[ArchivedLog]:
    """Return the newest archived log of each of these matches, or of all."""
    newest = {log.match: log for log in archive.list_logs()}
    missing = [match_id for match_id in match_ids if match_id not in newest]
    if missing:
        raise ArchiveError(
            f"The archive {archive.folder} has no log of {', '.join(missing)}, so no log was restored. Leave them out, "
            "or name another archive."
        )
    return [newest[match_id] for match_id in dict.fromkeys(match_ids or newest)]


def _read_fitting(
    session: Session, archive: LogArchive, archived: ArchivedLog, report: RestoringReport
) -> _FittingLog | None:
    """Return a log that can be stored. Otherwise count it as kept or refused."""
    match = session.get(StoredMatch, archived.match)
    if match is not None and match.log_deleted_at is None:
        report.kept += 1
        return None
    try:
        lines, sealed = split_signature(gzip.decompress(archive.read(archived)).splitlines())
        _check_signature(session, archived.match, lines, sealed)
        differences = list(audit.check_archived(session, archived.match, lines))
        reason = str(differences[0]) if differences else ""
    except BadLog as error:
        reason = error.reason
    except BadSignature as error:
        reason = f"its signature does not fit: {error}"
    except (OSError, EOFError, zlib.error, ValueError) as error:
        reason = f"it cannot be decompressed or read: {error}"
    session.expunge_all()  # free memory, because logs are large
    if reason:
        report.refused.append(RefusedLog(archived.match, reason))
        return None
    return _FittingLog(archived, lines)


def _check_signature(session: Session, match_id: str, lines: Sequence[bytes], sealed: bytes | None) -> None:
    """Raise ``BadSignature`` unless the log is signed as the chain says, or neither of the two has a signature.

    Logs from before logs were signed have none. They are compared with the digest.
    """
    if not lines:
        raise BadLog(0, "the archived log is empty")
    entry = chain.find_entry(session, match_id)
    if entry is None and sealed is None:
        return
    if entry is None or sealed is None:
        raise BadSignature(f"{'the chain' if entry is None else 'the archived log'} has none")
    if parse_signature(sealed) != entry:
        raise BadSignature("the chain of signatures has another one for this match")
    check_belongs(entry, lines)
    chain.load_keys(session).check(entry)


def _store(session: Session, log: _FittingLog) -> bool:
    """Store a log and record the act. Return False if it was stored meanwhile."""
    match = session.get_one(StoredMatch, log.archived.match)
    deleted_at, rule = match.log_deleted_at, match.log_deleted_rule
    if not log_pruning.store_again(session, match.id, log.lines):
        return False
    record_act(
        session,
        None,
        ActKind.LOG_RESTORED,
        match.id,
        tournament_id=match.tournament_id,
        deleted_at=None if deleted_at is None else deleted_at.isoformat(),
        rule=rule,
        sha256=log.archived.sha256,
    )
    return True
