"""Reconstruct the questions of a match by replaying its log."""

from collections.abc import Mapping, Sequence
from typing import Final

from referee.errors import BadLog, RefereeError
from referee.match.canonical import Json
from referee.match.chance import RecordedChance
from referee.match.log import HEADER_MEMBERS, parse_row
from referee.match.match import Match, Request, is_answer

MEMBERS: Final = ("observation", "new_events", "legal_actions", "default_action", "time")  # of a question


def questions(lines: Sequence[bytes]) -> Mapping[int, Json]:
    """Return the question for each row with a bot's answer, keyed by row number.

    Raise ``BadLog`` for an invalid log.
    """
    asked: dict[int, Json] = {}
    try:
        rows = [parse_row(line) for line in lines]
        match = Match({name: rows[0][name] for name in HEADER_MEMBERS}, RecordedChance(rows))
        match.begin()
        compared = match.compare_rows(lines, 0)
        for number, row in enumerate(rows):
            if is_answer(row):
                request = _find_request(match, number, row["seat"])
                asked[number] = {name: getattr(request, name) for name in MEMBERS}
                match.replay(number, row)
                compared = match.compare_rows(lines, compared)
    except BadLog:
        raise
    except (RefereeError, KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BadLog(max(asked, default=0), f"it cannot be replayed: {error!r}") from error
    return asked


def _find_request(match: Match, number: int, seat: int) -> Request:
    found = next((request for request in match.requests() if request.seat == seat), None)
    if found is None:
        raise BadLog(number, f"seat {seat + 1} was not asked here")
    return found
