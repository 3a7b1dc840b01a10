"""The audit: every log replayed, every ladder folded anew, every stored number compared bit for bit.

It reads one snapshot and writes nothing; what follows from what it found is in ``repairs``. Ladders are looked at in
``ladder_audit``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from referee.errors import BadLog
from referee.ladders import log_claims
from referee.ladders.audit_findings import Difference as Difference
from referee.ladders.ladder_audit import check_ladders
from referee.ladders.log_claims import Seated
from referee.ladders.tables import LedgerEntry
from referee.match.log import parse_row
from referee.matches.tables import DealGroup, Match, MatchLog, Result

PAGE: Final = 100  # logs at a time
PLAYED: Final = ("finished", "void")
_PLAYED: Final = or_(Match.status.in_(PLAYED), Result.seq.is_not(None))

Step = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class _Played:
    """A match that is over, or has a result all the same, with all that is kept of it."""

    match: Match
    group: DealGroup
    log: MatchLog | None
    result: Result | None
    seats: list[Seated]


def audit(session: Session, step: Step = lambda more: None) -> Iterator[Difference]:
    """All differences: of logs and results first, then of ladders. None: the record holds.

    ``step`` is told as it goes how much of ``size`` is done.
    """
    yield from check_logs(session, step)
    yield from check_ladders(session, step)


def size(session: Session) -> int:
    """How much there is to look at: matches and acts."""
    matches = select(func.count()).select_from(Match).outerjoin(Result, Result.match_id == Match.id).where(_PLAYED)
    return session.scalars(matches).one() + session.scalars(select(func.count()).select_from(LedgerEntry)).one()


def check_logs(session: Session, step: Step = lambda more: None) -> Iterator[Difference]:
    """Replays the log of every match that was played and compares it with digest, result, seats and reveal."""
    after = ""
    while True:
        page = _page(session, after)
        for played in page:
            yield from _check(session, played)
        step(len(page))
        if len(page) < PAGE:
            return
        after = page[-1].match.id
        session.expunge_all()  # logs are large


def _page(session: Session, after: str) -> list[_Played]:
    query = select(Match, DealGroup, MatchLog, Result).join(DealGroup, DealGroup.id == Match.group_id)
    query = query.outerjoin(MatchLog, MatchLog.match_id == Match.id).outerjoin(Result, Result.match_id == Match.id)
    rows = session.execute(query.where(_PLAYED, Match.id > after).order_by(Match.id).limit(PAGE)).all()
    seats = log_claims.load_seats(session, [match.id for match, *_ in rows])
    return [_Played(match, group, log, result, seats[match.id]) for match, group, log, result in rows]


def _check(session: Session, played: _Played) -> Iterator[Difference]:
    log, result, match = played.log, played.result, played.match
    if match.status == "void" and result is None and all(seat.row.placement is None for seat in played.seats):
        return  # it was stuck, and has no end
    if log is None or result is None:
        yield Difference("match", match.id, match.status, "a log and a result")
        return
    if match.status not in PLAYED:
        yield Difference("match", match.id, match.status, "finished, as it has a result", result.ladder_id)
    try:
        lines, report = log_claims.replay_stored_log(session, match.id, log)
    except BadLog as error:
        yield Difference("log", match.id, f"row {error.row}: {error.reason}", "the log as it was packed")
        return
    proven = log_claims.derive_records(session, lines, log.rows, played.seats)
    for one in proven.differing(match, played.seats, result):
        for ladder_id in sorted({result.ladder_id, proven.result["ladder_id"]} - {None}, key=str) or [None]:
            yield Difference(one.what, match.id, str(one.stored), str(one.proven), ladder_id)
    yield from _check_reveal(played, lines, revealed=report.revealed)


def _check_reveal(played: _Played, lines: Sequence[bytes], *, revealed: bool) -> Iterator[Difference]:
    """The log is open exactly when its group is over, and shows the group's own promise and nonces."""
    group, match_id = played.group, played.match.id
    if revealed != (group.state == "over"):
        yield Difference("reveal", match_id, "open" if revealed else "closed", f"group {group.id} is {group.state}")
    elif revealed:
        row, blank = parse_row(lines[-1]), [""] * len(group.entries)
        stored = [row["nonces"], row["nonce_hashes"], parse_row(lines[0])["group"]["commitment"]]
        expected = [group.nonces or blank, group.nonce_hashes or blank, group.commitment]
        if stored != expected:
            yield Difference("reveal", match_id, str(stored), str(expected))
