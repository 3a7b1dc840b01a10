"""Replay a recorded match up to one of its decision points."""

from collections.abc import Sequence

from referee.errors import BadOption
from referee.games.state import Seat
from referee.match.canonical import Json
from referee.match.chance import CommittedChance
from referee.match.match import Match, Request, is_answer


def replay_to(rows: Sequence[Json], header: Json, n: int) -> Match:
    """Return the match at decision point ``n``, replayed under ``header``, which may differ from the log's own.

    ``rows`` is the complete log. The seed in its last row, the reveal, determines the chance outcomes. Raise
    ``BadOption`` if no bot was asked at ``n``.
    """
    reveal, group = rows[-1], rows[0]["group"]["id"]
    match = Match(header, CommittedChance(bytes.fromhex(reveal["seed"]), group, reveal["nonces"]))
    match.begin()
    for number, row in enumerate(rows):
        if is_answer(row) and row["n"] < n:
            match.replay(number, row)
    if match.over or match.n != n:
        asked = sorted({row["n"] for row in rows if is_answer(row)})
        nearest = ", ".join(str(point) for point in sorted(asked, key=lambda point: abs(point - n))[:6])
        raise BadOption("DECISION", f"no bot was asked at decision {n}; the nearest decisions are: {nearest or 'none'}")
    return match


def find_request(match: Match, seat: Seat | None) -> Request:
    """Return the open question to this seat, or the only open question if ``seat`` is None.

    Raise ``BadOption`` if the seat was not asked, or if ``seat`` is None and several seats were asked.
    """
    requests = {request.seat: request for request in match.requests()}
    seats = ", ".join(str(asked + 1) for asked in requests)
    if seat is None:
        if len(requests) > 1:
            raise BadOption("--seat", f"several seats choose at decision {match.n}; pass one of {seats}")
        return next(iter(requests.values()))
    if seat not in requests:
        raise BadOption("--seat", f"seat {seat + 1} was not asked at decision {match.n}; pass one of {seats}")
    return requests[seat]
