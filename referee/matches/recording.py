"""Record the rows, sealed answers and fault reports of matches in progress, several matches per transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, update
from sqlalchemy.orm import Session

from referee.db.engine import current_time, lease_now
from referee.db.names import make_storable
from referee.matches import claims
from referee.matches.tables import Fault, LogRow, SealedAnswer, StoredMatch

MAX_WITHOUT_SAVEPOINT: Final = 4  # number of updates up to which a savepoint costs more than it saves
MAX_REPORT_BYTES: Final = 64 * 1024  # stored of each request and each reply in a fault report


@dataclass(frozen=True, slots=True)
class PendingAnswer:
    """Hold an answer at a decision point at which answers of other seats are pending."""

    n: int
    seat: int
    answer: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FaultReport:
    """Describe for the owner of a bot what it did wrong at decision point ``n``."""

    n: int
    seat: int
    bot_id: str
    code: str
    detail: str = ""
    request: bytes | None = None
    reply: bytes | None = None
    timing: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MatchUpdate:
    """Describe what happened in a match since its last update.

    ``start`` is the number of rows recorded before, even if there are no new ``lines``. ``unsealed`` lists the decision
    points (``n``) whose sealed answers became rows.
    """

    match_id: str
    epoch: int
    start: int = 0
    lines: Sequence[bytes] = ()
    sealed: Sequence[PendingAnswer] = ()
    unsealed: Sequence[int] = ()
    fault_reports: Sequence[FaultReport] = field(default=())


def record_batch(session: Session, records: Sequence[MatchUpdate]) -> set[str]:
    """Write the updates whose claims are valid and renew their leases. Return the ids of the other matches.

    A claim also counts as lost when the rows of an update do not continue the recorded ones.
    """
    lease = claims.LEASES.new_lease_values(*lease_now(session))
    # Sort by ids, to prevent deadlocks between batches.
    ordered = sorted(records, key=lambda record: (record.match_id, record.start))
    moves = [
        {
            "of": record.match_id,
            "held": record.epoch,
            "start": record.start,
            "rows": record.start + len(record.lines),
            **lease,
        }
        for record in ordered
    ]
    all_advanced = len(moves) > MAX_WITHOUT_SAVEPOINT and _advance_all(session, moves)
    valid = ordered if all_advanced else _advance_one_by_one(session, ordered, moves)
    _write(session, valid)
    return {record.match_id for record in ordered if record not in valid}


def _advance_all(session: Session, moves: Sequence[dict[str, Any]]) -> bool:
    """Advance all matches in one statement, as is usually possible. Otherwise change nothing and return False."""
    connection = session.connection()
    attempt = connection.begin_nested()
    if connection.execute(_MOVE, moves).rowcount == len(moves):
        attempt.commit()
        return True
    attempt.rollback()
    return False


def _advance_one_by_one(
    session: Session, records: Sequence[MatchUpdate], moves: Sequence[dict[str, Any]]
) -> list[MatchUpdate]:
    """Advance the matches one by one. Return the updates that have valid claims and continue the recorded rows."""
    connection = session.connection()
    return [
        record for record, move in zip(records, moves, strict=True) if connection.execute(_MOVE, move).rowcount == 1
    ]


# Built once, without the ORM: these run for every decision, and the ORM would cost more time than playing.
_MATCHES, _ROWS, _SEALED = (model.__table__ for model in (StoredMatch, LogRow, SealedAnswer))
_MOVE = (
    update(_MATCHES)
    .where(claims.LEASES.fence(bindparam("of"), bindparam("held")), _MATCHES.c.rows == bindparam("start"))
    .values({name: bindparam(name) for name in ("rows", "lease_boot", "lease_until")})
    .values(claims_without_progress=0)
)
_ADD_ROW, _ADD_SEALED = insert(_ROWS), insert(_SEALED)
_UNSEAL = delete(_SEALED).where(_SEALED.c.match_id == bindparam("of"), _SEALED.c.n == bindparam("point"))


def _write(session: Session, records: Sequence[MatchUpdate]) -> None:
    moment: float = current_time(session).timestamp()
    rows = [
        {"match_id": record.match_id, "row": record.start + offset, "line": line, "recorded_at": moment}
        for record in records
        for offset, line in enumerate(record.lines)
    ]
    sealed_rows = [
        {"match_id": record.match_id, "n": sealed.n, "seat": sealed.seat, "answer": sealed.answer}
        for record in records
        for sealed in record.sealed
    ]
    opened = [{"of": record.match_id, "point": n} for record in records for n in record.unsealed]
    for statement, values in ((_ADD_ROW, rows), (_ADD_SEALED, sealed_rows), (_UNSEAL, opened)):
        if values:
            session.connection().execute(statement, values)
    write_fault_reports(session, records)


def write_fault_reports(session: Session, records: Sequence[MatchUpdate]) -> None:
    if not any(record.fault_reports for record in records):
        return
    moment = current_time(session)
    _insert_all(
        session,
        Fault,
        [
            {
                "match_id": record.match_id,
                "n": report.n,
                "seat": report.seat,
                "bot_id": report.bot_id,
                "code": report.code,
                "detail": make_storable(report.detail)[:1000],
                "request": report.request and report.request[:MAX_REPORT_BYTES],
                "reply": report.reply and report.reply[:MAX_REPORT_BYTES],
                "timing": report.timing,
                "created_at": moment,
            }
            for record in records
            for report in record.fault_reports
        ],
    )


def _insert_all(session: Session, table: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        session.execute(insert(table), rows)
