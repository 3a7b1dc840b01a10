"""What is replayed from the log of a match that is over: whether it holds, and what a bot was asked.

Replaying costs as much as playing, so few do it at once, and what was found of a log is kept.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final, TypeVar

from sqlalchemy.orm import Session

from api.errors import Problem, not_found
from referee import schema
from referee.match import replay
from referee.match.canonical import Json
from referee.match.log import digest, parse_row
from referee.match.match import Match, is_answer
from referee.match.verification import verify
from referee.matches import logs
from referee.protocol.messages import Questions
from referee.workflows import match_loading

AT_ONCE: Final = 2  # in a process
PATIENCE_S: Final = 2.0
RETRY_AFTER_S: Final = "2"
KEPT: Final = 1_000  # reports

T = TypeVar("T")


class RecentCache:
    """The last few things that were made, by their keys. Two who want the same at once may both make it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                known: T = self._made[key]
                return known
        made = make()
        with self._lock:
            self._made[key] = made
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return made


_REPORTS: Final = RecentCache(KEPT)
_AT_WORK: Final = threading.BoundedSemaphore(AT_ONCE)


def report(session: Session, match: schema.Match) -> Json:
    """What ``verification.verify`` finds. 409 before the log opens, 404 without a log, 503 while others are at it."""
    lines = _load_open_log(session, match)
    # Of the last line of all, which links all before it: the reveal among them.
    return _REPORTS.get(digest(lines[-1]), lambda: _verify_log(lines))


def decision(session: Session, match: schema.Match, number: int, master_key: bytes) -> Json:
    """A row of a decision, with the question as it was put to the bot, None where nobody was asked. Refuses as
    ``report`` does, and 404 for a row that is no decision."""
    lines = _load_open_log(session, match)
    if number >= len(lines) or (row := parse_row(lines[number]))["type"] != "decision":
        raise not_found()
    asked = _question(session, match, lines, row, master_key) if is_answer(row) else None
    return {"row": number, "n": row["n"], "seat": row["seat"], "question": asked, "decision": row}


def _load_open_log(session: Session, match: schema.Match) -> list[bytes]:
    if not logs.is_open(session, match):
        reason = "the log opens when the last match of its deal group is over"
        raise Problem(409, "log_not_ready", reason)
    lines = logs.log_lines(session, match.id)
    if not lines:
        raise not_found()  # cancelled before its first row
    return lines


def _verify_log(lines: list[bytes]) -> Json:
    with at_work():
        played = lines[:-1] if parse_row(lines[-1])["type"] == "reveal" else lines
        return {**asdict(verify(lines)), "digest": digest(played[-1])}


def _question(session: Session, match: schema.Match, lines: list[bytes], row: Json, master_key: bytes) -> Json:
    loaded = match_loading.load(session, match.id, master_key=master_key)
    with at_work():
        rows = [parse_row(line) for line in lines]
        at: Match = replay.replay_to(rows, loaded.header, row["n"])
        questions = Questions(loaded.header, row["seat"], loaded.aliases)
        _, body = questions.ask(replay.question(at, row["seat"]))
    return parse_row(body)


@contextmanager
def at_work() -> Iterator[None]:
    """One of the few who replay; 503 when they stay busy."""
    if not _AT_WORK.acquire(timeout=PATIENCE_S):
        raise Problem(503, "unavailable", "Others are being replayed just now.", headers={"Retry-After": RETRY_AFTER_S})
    try:
        yield
    finally:
        _AT_WORK.release()
