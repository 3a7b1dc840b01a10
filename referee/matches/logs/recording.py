"""Record the rows, sealed answers and fault reports of matches in progress, several matches per transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, case, delete, insert, update
from sqlalchemy.orm import Session

from referee.db.engine import current_time, lease_now
from referee.db.names import make_storable
from referee.db.prepared import Prepared, insert_columns, upsert_columns
from referee.matches.queue import claims
from referee.matches.tables import Fault, LogRow, ReportedError, SealedAnswer, StoredMatch

NO_DELAYS: Final[Mapping[int, list[float]]] = MappingProxyType({})
MAX_REPORT_BYTES: Final = 64 * 1024  # stored of each request and each reply in a fault report


@dataclass(frozen=True, slots=True)
class PendingAnswer:
    """Hold an answer that was given at decision point ``n`` while answers of other seats are pending."""

    n: int
    seat: int
    answer: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FaultReport:
    """Describe what a bot did wrong at decision point ``n``, for its owner."""

    n: int
    seat: int
    bot_id: str
    code: str
    detail: str = ""
    request: bytes | None = None
    reply: bytes | None = None
    timing: dict[str, Any] | None = None


class BotError(NamedTuple):
    """Hold an error that a bot reported of its own code at decision point ``n``, for its owner."""

    n: int
    seat: int
    bot_id: str
    text: str


class MatchUpdate(NamedTuple):
    """Describe what happened in a match since its last update.

    ``start`` is the number of rows that were recorded before, even if there are no new ``lines``. ``unsealed`` lists
    the decision points (``n``) whose sealed answers became rows. ``delays_ms`` has, keyed by row number, the time after
    which spectators may see each event of the row; other rows have no delays.
    """

    match_id: str
    epoch: int
    start: int = 0
    lines: Sequence[bytes] = ()
    sealed: Sequence[PendingAnswer] = ()
    unsealed: Sequence[int] = ()
    fault_reports: Sequence[FaultReport] = ()
    bot_errors: Sequence[BotError] = ()
    delays_ms: Mapping[int, list[float]] = NO_DELAYS

    def followed_by(self, later: "MatchUpdate") -> "MatchUpdate":
        """Return one update with the effect of both. Answers that ``later`` unseals need not be stored sealed."""
        return MatchUpdate(
            match_id=self.match_id,
            epoch=self.epoch,
            start=self.start,
            lines=[*self.lines, *later.lines],
            sealed=[answer for answer in [*self.sealed, *later.sealed] if answer.n not in later.unsealed],
            unsealed=[*self.unsealed, *later.unsealed],
            fault_reports=[*self.fault_reports, *later.fault_reports],
            bot_errors=[*self.bot_errors, *later.bot_errors],
            delays_ms={**self.delays_ms, **later.delays_ms},
        )


def record_batch(session: Session, records: Sequence[MatchUpdate]) -> set[str]:
    """Write the updates whose claims are valid and renew the leases.

    Return the ids of the matches whose claims were lost. A claim also counts as lost if the rows of an update do not
    continue the recorded ones.
    """
    ordered = _one_per_match(records)
    lease = claims.LEASES.new_lease_values(*lease_now(session))
    moves = [
        {"of": record.match_id, "held": record.epoch, "start": record.start}
        | {"rows": record.start + len(record.lines), **lease}
        for record in ordered
    ]
    advanced = _ADVANCE.execute_each(session, moves)
    valid = [record for record, count in zip(ordered, advanced, strict=True) if count == 1]
    _write(session, valid)
    return {record.match_id for record, count in zip(ordered, advanced, strict=True) if count != 1}


def _one_per_match(records: Iterable[MatchUpdate]) -> list[MatchUpdate]:
    """Combine the updates that continue each other. Sort by match id, to prevent deadlocks between batches."""
    combined: list[MatchUpdate] = []
    for record in sorted(records, key=lambda record: (record.match_id, record.start)):
        last = combined[-1] if combined else None
        if last and (last.match_id, last.epoch) == (record.match_id, record.epoch) and _continues(record, last):
            combined[-1] = last.followed_by(record)
        else:
            combined.append(record)
    return combined


def _continues(record: MatchUpdate, last: MatchUpdate) -> bool:
    return record.start == last.start + len(last.lines)


def _write(session: Session, records: Sequence[MatchUpdate]) -> None:
    moment: float = current_time(session).timestamp()
    rows = [
        {"match_id": record.match_id, "row": row, "line": line, "recorded_at": moment}
        | {"delays_ms": record.delays_ms.get(row)}
        for record in records
        for row, line in enumerate(record.lines, record.start)
    ]
    sealed_rows = [
        {"match_id": record.match_id, "n": sealed.n, "seat": sealed.seat, "answer": sealed.answer}
        for record in records
        for sealed in record.sealed
    ]
    opened = [{"of": record.match_id, "point": n} for record in records for n in record.unsealed]
    for statement, values in ((_ADD_ROW, rows), (_ADD_SEALED, sealed_rows), (_UNSEAL, opened)):
        statement.execute_all(session, values)
    write_reports(session, records)


def write_reports(session: Session, records: Sequence[MatchUpdate]) -> None:
    """Store the faults of bots, and the errors that they reported, for their owners."""
    write_bot_errors(session, records)
    write_fault_reports(session, records)


def write_bot_errors(session: Session, records: Sequence[MatchUpdate]) -> None:
    for match_id, error in [(record.match_id, error) for record in records for error in record.bot_errors]:
        row = {"match_id": match_id, **error._asdict(), "text": make_storable(error.text), "errors": 1}
        row["created_at"] = current_time(session)
        # One by one, since a seat may have several errors, and the last one stays.
        session.execute(_ADD_ERROR[session.get_bind().dialect.name], row)


def write_fault_reports(session: Session, records: Sequence[MatchUpdate]) -> None:
    reports = [(record.match_id, report) for record in records for report in record.fault_reports]
    if not reports:
        return
    moment = current_time(session)
    rows = [
        {
            **asdict(report),
            "match_id": match_id,
            "detail": make_storable(report.detail)[:1000],
            "request": report.request and report.request[:MAX_REPORT_BYTES],
            "reply": report.reply and report.reply[:MAX_REPORT_BYTES],
            "created_at": moment,
        }
        for match_id, report in reports
    ]
    session.execute(insert(Fault), rows)


_MATCHES, _ROWS, _SEALED = (model.__table__ for model in (StoredMatch, LogRow, SealedAnswer))
_ADVANCE: Final = Prepared(
    update(_MATCHES)
    .where(claims.LEASES.fence(bindparam("of"), bindparam("held")), _MATCHES.c.rows == bindparam("start"))
    .values({name: bindparam(name) for name in ("rows", "lease_boot", "lease_until")})
    .values(
        claims_without_progress=case((_MATCHES.c.rows < bindparam("rows"), 0), else_=_MATCHES.c.claims_without_progress)
    )
)
_ADD_ERROR: Final = upsert_columns(ReportedError.__table__, key=("match_id", "seat"), add=("errors",))
_ADD_ROW: Final = Prepared(insert_columns(_ROWS))
_ADD_SEALED: Final = Prepared(insert_columns(_SEALED))
_UNSEAL: Final = Prepared(
    delete(_SEALED).where(_SEALED.c.match_id == bindparam("of"), _SEALED.c.n == bindparam("point"))
)
