"""The audit: every log replayed, every ladder folded anew, every stored number compared bit for bit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.errors import BadLog
from referee.matchlog import verify
from referee.ratings import START, elo_changes
from referee.rows import digest, parsed
from referee.store import logs
from referee.store.schema import Match, MatchLog, Rating, RatingChange, Result

Key = tuple[str, str]  # ladder, bot


@dataclass(frozen=True, slots=True)
class Difference:
    """Something stored that is not what follows from the results, or from a log."""

    what: str  # "rating", "change", "log", "result"
    id: str
    stored: str
    expected: str

    def __str__(self) -> str:
        return f"{self.what} {self.id}: stored {self.stored}, expected {self.expected}"


def audit(session: Session) -> Iterator[Difference]:
    """All differences: of logs and results first, then of ladders. None: the record holds."""
    yield from check_logs(session)
    yield from refold(session)


def refold(session: Session) -> Iterator[Difference]:
    """Folds all ladders over the results in their order and compares changes and ratings."""
    folded: dict[Key, tuple[int, int, int]] = {}  # value, games, as of
    changes: dict[tuple[int, str], tuple[int, int]] = {}
    for result in session.scalars(select(Result).where(Result.ladder_id.is_not(None)).order_by(Result.seq)):
        keys = [(str(result.ladder_id), bot_id) for bot_id in result.bots]
        rows = [folded.get(key, (START, 0, 0)) for key in keys]
        moves = elo_changes([row[0] for row in rows], [row[1] for row in rows], result.placements)
        for key, (value, games, _), move in zip(keys, rows, moves, strict=True):
            folded[key] = (value + move, games + 1, result.seq)
            changes[result.seq, key[1]] = (value, value + move)
    kept_changes = {(row.seq, row.bot_id): (row.before, row.after) for row in session.scalars(select(RatingChange))}
    kept = {
        (row.ladder_id, row.bot_id): (row.value, row.games, row.as_of_seq) for row in session.scalars(select(Rating))
    }
    yield from _compared("change", kept_changes, changes)
    yield from _compared("rating", kept, folded)


def check_logs(session: Session) -> Iterator[Difference]:
    """Replays the log of every finished match and compares it with the stored digest and result."""
    query = select(Match.id).where(Match.status.in_(["finished", "void"])).order_by(Match.id)
    for match_id in session.scalars(query).all():
        yield from _check_log(session, match_id)


def _check_log(session: Session, match_id: str) -> Iterator[Difference]:
    log = session.get(MatchLog, match_id)
    result = session.scalar(select(Result).where(Result.match_id == match_id))
    if log is None or result is None:
        yield Difference("match", match_id, "finished", "a log and a result")
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
    last, header = parsed(lines[log.rows - 1]), parsed(lines[0])
    stored = [result.bots, result.placements, result.returns, result.scores]
    expected = [[one["bot"] for one in header["players"]], last["placements"], last["returns"], last["scores"]]
    if stored != expected:
        yield Difference("result", match_id, str(stored), str(expected))


def _compared(what: str, stored: Mapping[Any, Any], expected: Mapping[Any, Any]) -> Iterator[Difference]:
    for key in sorted(stored.keys() | expected.keys(), key=str):
        if stored.get(key) != expected.get(key):
            yield Difference(what, str(key), str(stored.get(key)), str(expected.get(key)))
