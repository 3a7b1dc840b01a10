"""Sign public logs that are not signed: those of matches that ended before the service signed logs.

Each log is verified by a replay first. An invalid one stays unsigned. The work is done in small steps, and can be
interrupted and begun again at any time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.db.engine import Database
from referee.errors import BadLog
from referee.ladders import ledger
from referee.match.log import digest
from referee.match.verification import verify
from referee.matches import chain, logs
from referee.matches.chain import ChainWriter
from referee.matches.states import DealGroupState
from referee.matches.tables import DealGroup, MatchLog, Result, SignedLog, StoredMatch

LOGS_PER_STEP: Final = 50  # verified and then signed in one transaction


@dataclass(slots=True)
class SigningReport:
    """Count the logs that were signed, and name those that are invalid, each with the reason."""

    signed: int = 0
    invalid: list[tuple[str, str]] = field(default_factory=list)

    def sentences(self) -> list[str]:
        """Return what happened, in sentences; nothing if there was nothing to sign."""
        told = [f"{self.signed} logs of earlier matches were verified and signed."] if self.signed else []
        unsigned = "The log of {} is not signed, because it is invalid: {}"
        return told + [unsigned.format(match_id, reason) for match_id, reason in self.invalid]


def sign_old_logs(
    database: Database, master_key: bytes, step: Callable[[int, int], None] = lambda done, total: None
) -> SigningReport:
    """Verify and sign all public logs that are not signed, in the order of their results.

    After each step, call ``step`` with the numbers of logs done and in all.
    """
    report, done = SigningReport(), 0
    with database.read() as session:
        unsigned = _list_unsigned(session)
    for start in range(0, len(unsigned), LOGS_PER_STEP):
        match_ids = unsigned[start : start + LOGS_PER_STEP]
        with database.read() as session:
            valid = _verify_logs(session, match_ids, report)
        with database.write() as session:
            report.signed += _sign(session, valid, master_key)
        done += len(match_ids)
        step(done, len(unsigned))
    return report


def _list_unsigned(session: Session) -> list[str]:
    """Return the matches with unsigned public logs in the order of their results, then those without a result."""
    query = select(MatchLog.match_id).join(StoredMatch, StoredMatch.id == MatchLog.match_id)
    query = query.join(DealGroup, DealGroup.id == StoredMatch.group_id)
    query = query.outerjoin(Result, Result.match_id == MatchLog.match_id)
    query = query.outerjoin(SignedLog, SignedLog.match_id == MatchLog.match_id)
    query = query.where(DealGroup.state == DealGroupState.REVEALED, SignedLog.number.is_(None))
    query = query.where(StoredMatch.log_deleted_at.is_(None))
    return list(session.scalars(query.order_by(Result.seq.is_(None), Result.seq, MatchLog.match_id)))


def _verify_logs(session: Session, match_ids: Sequence[str], report: SigningReport) -> list[tuple[str, str]]:
    """Return the ids of matches with valid logs, and the digests of the last rows. Add the others to the report."""
    valid = []
    for match_id in match_ids:
        try:
            valid.append((match_id, _verify_log(session, match_id)))
        except BadLog as error:
            report.invalid.append((match_id, str(error)))
    session.expunge_all()  # free memory, because logs are large
    return valid


def _verify_log(session: Session, match_id: str) -> str:
    """Return the digest of the last row. Raise ``BadLog`` for a log that is invalid or of another match."""
    try:
        lines = logs.log_lines(session, match_id)
        found = verify(lines)
    except (TypeError, ValueError) as error:  # the stored value may be of a wrong type
        raise BadLog(0, f"the stored log cannot be read: {error}") from error
    has_result = session.scalar(select(Result.seq).where(Result.match_id == match_id)) is not None
    if not found.ok and (has_result or not found.cut_short):  # a match that was cancelled has no end
        raise BadLog(found.row or 0, found.reason)
    if not found.revealed:
        raise BadLog(found.rows, "the reveal row is missing")
    if found.ok and found.match != match_id:
        raise BadLog(0, f"it is the log of match {found.match}")
    return digest(lines[-1])


def _sign(session: Session, valid: Sequence[tuple[str, str]], master_key: bytes) -> int:
    """Sign these logs except those that were signed meanwhile. Return how many were signed."""
    ledger.lock_ledger(session)
    unsigned = [(match_id, last) for match_id, last in valid if chain.find_entry(session, match_id) is None]
    ChainWriter(session, master_key).sign(unsigned)
    return len(unsigned)
