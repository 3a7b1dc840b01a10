"""Writing down a match while it is played: rows, sealed answers, evidence; several matches in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import delete, insert, tuple_
from sqlalchemy.orm import Session

from referee.store import claims, logs
from referee.store.db import now
from referee.store.names import printable
from referee.store.schema import Fault, LogRow, SealedAnswer

MAX_KEPT_BYTES: Final = 64 * 1024  # of a request or a reply kept as evidence


@dataclass(frozen=True, slots=True)
class Sealed:
    """An answer of a decision point whose other seats still owe theirs."""

    n: int
    seat: int
    answer: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a bot did wrong at decision point ``n``, as its owner may see it."""

    n: int
    seat: int
    bot_id: str
    code: str
    detail: str = ""
    request: bytes | None = None
    reply: bytes | None = None
    timing: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """What happened in one match since its last record. ``start`` is the number of the first of ``lines``;
    ``unsealed`` are decision points (``n``) whose sealed answers have become rows."""

    match_id: str
    epoch: int
    start: int = 0
    lines: Sequence[bytes] = ()
    sealed: Sequence[Sealed] = ()
    unsealed: Sequence[int] = ()
    evidence: Sequence[Evidence] = field(default=())


def record_batch(session: Session, records: Sequence[Record]) -> set[str]:
    """Writes what is ours to write and gives the ids of the matches that no longer are: nothing of them is written.

    A match also counts as lost when its rows do not continue the recorded ones.
    """
    ours = claims.ours_of(session, [(record.match_id, record.epoch) for record in records])
    known = logs.count_rows(session, sorted(ours))
    good, lost = [], set()
    for record in records:
        if record.match_id in ours and (not record.lines or known[record.match_id] == record.start):
            known[record.match_id] += len(record.lines)
            good.append(record)
        else:
            lost.add(record.match_id)
    _write(session, good)
    return lost


def _write(session: Session, records: Sequence[Record]) -> None:
    _insert_all(
        session,
        LogRow,
        [
            {"match_id": record.match_id, "row": record.start + offset, "line": line}
            for record in records
            for offset, line in enumerate(record.lines)
        ],
    )
    _insert_all(
        session,
        SealedAnswer,
        [
            {"match_id": record.match_id, "n": one.n, "seat": one.seat, "answer": one.answer}
            for record in records
            for one in record.sealed
        ],
    )
    opened = [(record.match_id, n) for record in records for n in record.unsealed]
    if opened:
        points = tuple_(SealedAnswer.match_id, SealedAnswer.n)
        session.execute(delete(SealedAnswer).where(points.in_(opened)))
    write_evidence(session, records)
    moved = {record.match_id for record in records if record.lines or record.sealed}
    claims.made_progress(session, moved)


def write_evidence(session: Session, records: Sequence[Record]) -> None:
    moment = now(session)
    _insert_all(
        session,
        Fault,
        [
            {
                "match_id": record.match_id,
                "n": one.n,
                "seat": one.seat,
                "bot_id": one.bot_id,
                "code": one.code,
                "detail": printable(one.detail)[:1000],
                "request": one.request and one.request[:MAX_KEPT_BYTES],
                "reply": one.reply and one.reply[:MAX_KEPT_BYTES],
                "timing": one.timing,
                "created_at": moment,
            }
            for record in records
            for one in record.evidence
        ],
    )


def _insert_all(session: Session, table: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        session.execute(insert(table), rows)
