"""The audit: every log replayed, every ladder folded anew, every stored number compared bit for bit.

It reads one snapshot and writes nothing; what follows from what it found is in ``repairs``. Ladders are looked at in
``ladder_audit``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.errors import BadLog
from referee.matchlog import verify
from referee.rows import digest, parsed
from referee.store import logs
from referee.store.differences import Difference as Difference
from referee.store.ladder_audit import check_ladders
from referee.store.schema import Group, LadderAct, Match, MatchLog, MatchSeat, Result

PAGE: Final = 100  # logs at a time
PLAYED: Final = ("finished", "void")

Step = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class _Played:
    """A match that is over, with all that is kept of it."""

    match_id: str
    status: str
    group: Group
    log: MatchLog | None
    result: Result | None


def audit(session: Session, step: Step = lambda more: None) -> Iterator[Difference]:
    """All differences: of logs and results first, then of ladders. None: the record holds.

    ``step`` is told as it goes how much of ``size`` is done.
    """
    yield from check_logs(session, step)
    yield from check_ladders(session, step)


def size(session: Session) -> int:
    """How much there is to look at: matches and acts."""
    matches = select(func.count()).select_from(Match).where(Match.status.in_(PLAYED))
    return session.scalars(matches).one() + session.scalars(select(func.count()).select_from(LadderAct)).one()


def check_logs(session: Session, step: Step = lambda more: None) -> Iterator[Difference]:
    """Replays the log of every match that was played and compares it with digest, result and reveal."""
    after = ""
    while True:
        page = _page(session, after)
        for played in page:
            yield from _check(session, played)
        step(len(page))
        if len(page) < PAGE:
            return
        after = page[-1].match_id


def result_of_log(session: Session, match_id: str) -> dict[str, list[Any]] | None:
    """What the result must say, by its columns; None where the log itself does not hold."""
    log = session.get(MatchLog, match_id)
    try:
        lines = logs.log_lines(session, match_id)
    except BadLog:
        return None
    if log is None or not verify(lines).ok or digest(lines[log.rows - 1]) != log.digest:
        return None
    return _told(lines, log)


def _page(session: Session, after: str) -> list[_Played]:
    query = select(Match.id, Match.status, Group, MatchLog, Result).join(Group, Group.id == Match.group_id)
    query = query.outerjoin(MatchLog, MatchLog.match_id == Match.id).outerjoin(Result, Result.match_id == Match.id)
    query = query.where(Match.status.in_(PLAYED), Match.id > after).order_by(Match.id).limit(PAGE)
    return [_Played(*row) for row in session.execute(query)]


def _check(session: Session, played: _Played) -> Iterator[Difference]:
    log, result, match_id = played.log, played.result, played.match_id
    if played.status == "void" and result is None and not _ever_ended(session, match_id):
        return  # it was stuck, and has no end
    if log is None or result is None:
        yield Difference("match", match_id, played.status, "a log and a result")
        return
    try:
        lines = logs.log_lines(session, match_id)
    except BadLog as error:
        yield Difference("log", match_id, str(error), "the log as it was packed")
        return
    report = verify(lines)
    if not report.ok:
        yield Difference("log", match_id, f"row {report.row}: {report.reason}", "a log that replays")
        return
    found = digest(lines[log.rows - 1])
    if not found == log.digest == result.digest:
        yield Difference("log", match_id, f"digest {log.digest}, in the result {result.digest}", found)
    told = _told(lines, log)
    stored = {name: getattr(result, name) for name in told}
    if stored != told:
        yield Difference("result", match_id, str(stored), str(told), result.ladder_id)
    yield from _check_reveal(played, lines, revealed=report.revealed)


def _ever_ended(session: Session, match_id: str) -> bool:
    placed = select(MatchSeat.seat).where(MatchSeat.match_id == match_id, MatchSeat.placement.is_not(None))
    return session.scalar(placed.limit(1)) is not None


def _told(lines: Sequence[bytes], log: MatchLog) -> dict[str, list[Any]]:
    header, last = parsed(lines[0]), parsed(lines[log.rows - 1])
    bots = [one["bot"] for one in header["players"]]
    return {"bots": bots, **{name: last[name] for name in ("placements", "returns", "scores")}}


def _check_reveal(played: _Played, lines: Sequence[bytes], *, revealed: bool) -> Iterator[Difference]:
    """The log is open exactly when its group is over, and shows the group's own promise and nonces."""
    group, match_id = played.group, played.match_id
    if revealed != (group.state == "over"):
        yield Difference("reveal", match_id, "open" if revealed else "closed", f"group {group.id} is {group.state}")
    elif revealed:
        row, blank = parsed(lines[-1]), [""] * len(group.entries)
        stored = [row["nonces"], row["nonce_hashes"], parsed(lines[0])["group"]["commitment"]]
        expected = [group.nonces or blank, group.nonce_hashes or blank, group.commitment]
        if stored != expected:
            yield Difference("reveal", match_id, str(stored), str(expected))
