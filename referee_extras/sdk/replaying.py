"""Replay a finished match and ask a bot its questions, without a server."""

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from referee.errors import BadLog, BadOption, IllegalAction
from referee.match.canonical import Json
from referee.match.chance import RecordedChance
from referee.match.log import HEADER_MEMBERS, parse_row
from referee.match.match import Match, is_answer
from referee.match.signature import split_signature
from referee.match.verification import verify
from referee.protocol.messages import Questions
from referee_extras.sdk.bot import Bot, Question


@dataclass(frozen=True, slots=True)
class Replayed:
    """Hold a question from the log, the bot's answer (``action``) and the action in the log (``played``).

    ``n`` is the number of the decision point in the log. If ``legal`` is false, ``error`` is the reason why the answer
    is not legal, or the exception that the bot raised, in which case ``action`` is None.
    """

    n: int
    question: Question
    action: Json | None
    played: Json
    legal: bool
    error: str = ""


def replay(log: str | Path | Iterable[bytes], bot: Bot, seat: int) -> list[Replayed]:
    """Ask the bot every question that ``seat`` (counted from 0) got in the match. The match continues as recorded.

    ``log`` is the path of a log file, plain or gzipped, or the lines of a log. A signature after the last row must
    belong to the log, but its key is not checked. Raise ``BadLog`` if it is invalid, and
    ``BadOption`` if there is no such seat.
    """
    lines = _lines(log)
    report = verify(lines)
    if not report.ok:
        raise BadLog(report.row or 0, report.reason)
    rows = [parse_row(line) for line in split_signature(lines)[0]]
    header = {name: rows[0][name] for name in HEADER_MEMBERS}
    if not 0 <= seat < header["seats"]:
        raise BadOption("seat", f"the match has seats 0 to {header['seats'] - 1}, got {seat}")
    match = Match(header, RecordedChance(rows))
    match.begin()
    questions = Questions(header, seat)
    replayed = []
    for number, row in enumerate(rows):
        if not is_answer(row):
            continue
        if row["seat"] == seat:
            replayed.append(_replay_question(bot, match, questions, row["action"]))
        match.replay(number, row)
    return replayed


def _replay_question(bot: Bot, match: Match, questions: Questions, played: Json) -> Replayed:
    request = next(request for request in match.requests() if request.seat == questions.seat)
    _, body = questions.encode(request)
    question = Question(json.loads(body))
    try:
        action = bot.answer_question(question)
    except Exception as error:  # noqa: BLE001  # any exception of the author's function is reported
        return Replayed(request.n, question, None, played, legal=False, error=f"{type(error).__name__}: {error}")
    try:
        match.state.validate_action(questions.seat, action)
    except IllegalAction as error:
        return Replayed(request.n, question, action, played, legal=False, error=str(error))
    return Replayed(request.n, question, action, played, legal=True)


def _lines(log: str | Path | Iterable[bytes]) -> list[bytes]:
    if isinstance(log, str | Path):
        stored = Path(log).read_bytes()
        log = (gzip.decompress(stored) if stored[:2] == b"\x1f\x8b" else stored).splitlines()
    return [line.rstrip(b"\r\n") for line in log]
