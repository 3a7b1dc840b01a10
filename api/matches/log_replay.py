"""Replay logs of finished matches, to verify them and to rebuild the questions sent to bots.

Replaying costs as much as playing, so concurrent replays are limited and reports are cached.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Final

from sqlalchemy.orm import Session

from api.caching import RecentCache
from api.chain.presentation import present_signature
from api.errors import Problem, not_found
from referee import schema
from referee.match import replay
from referee.match.canonical import Json
from referee.match.log import digest, parse_row
from referee.match.match import Match, is_answer
from referee.match.verification import verify
from referee.matches.logs import chain, logs
from referee.protocol.messages import Questions
from referee.workflows.ending import match_loading

MOST_CONCURRENT: Final = 2  # replays in this process
SLOT_TIMEOUT_S: Final = 2.0
RETRY_AFTER_S: Final = "2"
MAX_REPORTS: Final = 1_000  # reports cached in this process


_REPORTS: Final = RecentCache[Json](MAX_REPORTS)
_REPLAYING: Final = threading.BoundedSemaphore(MOST_CONCURRENT)


def report(session: Session, match: schema.StoredMatch) -> Json:
    """Return the verification report on the match's log, with its signature or None.

    Raise a ``Problem``: 409 before the log is open, 404 without a log, 503 while too many others are being replayed.
    Raise ``DamagedLog`` if a signature does not fit the log.
    """
    lines = _load_open_log(session, match)
    signature = chain.read_signature(session, match.id, lines)
    # The links were compared, so the digest of the last line identifies the whole log, including the reveal.
    verified = _REPORTS.get(digest(lines[-1]), lambda: _verify_log(lines))
    return {**verified, "signature": None if signature is None else present_signature(signature)}


def decision(session: Session, match: schema.StoredMatch, number: int, master_key: bytes) -> Json:
    """Return the row of a decision with the question that was sent to the bot, or None if none was sent.

    Raise a ``Problem`` as ``report`` does, and a 404 for a row that is not a decision.
    """
    lines = _load_open_log(session, match)
    if number >= len(lines) or (row := parse_row(lines[number]))["type"] != "decision":
        raise not_found()
    question = _rebuild_question(session, match, lines, row, master_key) if is_answer(row) else None
    return {"row": number, "n": row["n"], "seat": row["seat"], "question": question, "decision": row}


def _load_open_log(session: Session, match: schema.StoredMatch) -> list[bytes]:
    if not logs.is_log_public(session, match):
        detail = "The log can be read when the last match of its deal group is over. Try again then."
        raise Problem(409, "log_not_ready", detail)
    lines = logs.log_lines(session, match.id)
    if not lines:
        raise not_found()  # the match was cancelled before its first row
    return lines


def _verify_log(lines: list[bytes]) -> Json:
    with limit_replays():
        played = lines[:-1] if parse_row(lines[-1])["type"] == "reveal" else lines
        return {**asdict(verify(lines)), "digest": digest(played[-1])}


def _rebuild_question(
    session: Session, match: schema.StoredMatch, lines: list[bytes], row: Json, master_key: bytes
) -> Json:
    loaded = match_loading.load_match(session, match.id, master_key=master_key)
    with limit_replays():
        rows = [parse_row(line) for line in lines]
        replayed: Match = replay.replay_to(rows, loaded.header, row["n"])
        questions = Questions(loaded.header, row["seat"], loaded.aliases)
        _, body = questions.encode(replay.find_request(replayed, row["seat"]))
    return parse_row(body)


@contextmanager
def limit_replays() -> Iterator[None]:
    """Run the block as one of at most ``MOST_CONCURRENT`` replays.

    Raise a 503 after waiting ``SLOT_TIMEOUT_S`` for a free slot.
    """
    if not _REPLAYING.acquire(timeout=SLOT_TIMEOUT_S):
        detail = f"Other logs are being replayed. Try again in {RETRY_AFTER_S} s."
        raise Problem(503, "unavailable", detail, headers={"Retry-After": RETRY_AFTER_S})
    try:
        yield
    finally:
        _REPLAYING.release()
