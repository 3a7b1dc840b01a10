"""What the bots of a match were asked, played again from its log. What is shown of it is the viewer's."""

from collections.abc import Mapping, Sequence
from typing import Final

from referee.errors import BadLog, RefereeError
from referee.match.canonical import Json
from referee.match.chance import RecordedChance
from referee.match.log import HEADER_MEMBERS, parse_row
from referee.match.match import Match, Request, is_answer

MEMBERS: Final = ("observation", "new_events", "legal_actions", "default_action", "time")  # as a question names them


def questions(lines: Sequence[bytes]) -> Mapping[int, Json]:
    """The question of each row that holds a bot's answer. Raises ``BadLog`` where the log does not hold."""
    asked: dict[int, Json] = {}
    try:
        rows = [parse_row(line) for line in lines]
        match = Match({name: rows[0][name] for name in HEADER_MEMBERS}, RecordedChance(rows))
        match.begin()
        compared = match.agree(lines, 0)
        for number, row in enumerate(rows):
            if is_answer(row):
                asked[number] = _question(_of_seat(match, number, row["seat"]))
                match.replay(number, row)
                compared = match.agree(lines, compared)
    except BadLog:
        raise
    except (RefereeError, KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BadLog(max(asked, default=0), f"it cannot be played again: {error!r}") from error
    return asked


def _of_seat(match: Match, number: int, seat: int) -> Request:
    found = next((request for request in match.requests() if request.seat == seat), None)
    if found is None:
        raise BadLog(number, f"seat {seat} was not asked here")
    return found


def _question(request: Request) -> Json:
    return {name: getattr(request, name) for name in MEMBERS}
