"""Count the logs that were deleted, and replay those that an archive has."""

import gzip
import zlib
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from referee.errors import BadLog
from referee.ladders import audit
from referee.ladders.audit import Difference
from referee.match.signature import split_signature
from referee.retention.archive import ArchivedLog, LogArchive


@dataclass(slots=True)
class DeletedLogs:
    """Count the logs that are signed, but not replayable from the database, and those replayed from an archive."""

    not_replayable: int = 0
    replayed: int = 0
    differences: list[Difference] = field(default_factory=list)

    def sentence(self) -> str:
        """Return the counts in words, or "" if there is nothing to say."""
        told = [f"{self.not_replayable} logs were pruned: signed, not replayable."] if self.not_replayable else []
        told += [f"{self.replayed} logs of the archive were replayed."] if self.replayed else []
        return " ".join(told)

    def to_json(self) -> dict[str, Any]:
        return {"not_replayable": self.not_replayable, "replayed_from_archive": self.replayed}


def check_deleted(session: Session, archive: LogArchive | None) -> DeletedLogs:
    """Return the numbers of deleted logs and, with an ``archive``, the differences of the logs in it.

    Raise ``ArchiveError`` if its indexes cannot be read.
    """
    report = DeletedLogs(audit.count_deleted(session))
    newest = {log.match: log for log in archive.list_logs()} if archive else {}
    for log in newest.values():
        assert archive is not None
        report.differences += _check_log(session, archive, log)
        report.replayed += 1
        session.expunge_all()  # free memory, because logs are large
    return report


def _check_log(session: Session, archive: LogArchive, log: ArchivedLog) -> list[Difference]:
    try:
        lines, _ = split_signature(gzip.decompress(archive.read(log)).splitlines())
    except BadLog as error:
        return [Difference("archive", log.match, error.reason, "the archived log")]
    except (OSError, EOFError, zlib.error) as error:
        return [Difference("archive", log.match, f"it cannot be decompressed: {error}", "the archived log")]
    return list(audit.check_archived(session, log.match, lines))
