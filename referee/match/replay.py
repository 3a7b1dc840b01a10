"""A match taken from its log back to one of its decisions. What is done there is left to others."""

from collections.abc import Sequence

from referee.errors import BadOption
from referee.games.state import Seat
from referee.match.canonical import Json
from referee.match.chance import CommittedChance
from referee.match.match import Match, Request, is_answer


def replay_to(rows: Sequence[Json], header: Json, n: int) -> Match:
    """The match as it stood when decision point ``n`` was asked, played under this header, which may be another than
    that of the log. ``rows`` are all of it, the reveal being the last.

    The chance to come follows from the revealed seed. Raises ``BadOption`` where nobody was asked.
    """
    reveal, group = rows[-1], rows[0]["group"]["id"]
    match = Match(header, CommittedChance(bytes.fromhex(reveal["seed"]), group, reveal["nonces"]))
    match.begin()
    for number, row in enumerate(rows):
        if is_answer(row) and row["n"] < n:
            match.replay(number, row)
    if match.over or match.n != n:
        asked = sorted({row["n"] for row in rows if is_answer(row)})
        near = ", ".join(str(one) for one in sorted(asked, key=lambda one: abs(one - n))[:6])
        raise BadOption("DECISION", f"nobody was asked at {n}; the nearest that were: {near or 'none'}")
    return match


def question(match: Match, seat: Seat | None) -> Request:
    """The open question of this seat, or the only one. Raises ``BadOption``."""
    requests = {request.seat: request for request in match.requests()}
    there = ", ".join(map(str, requests))
    if seat is None:
        if len(requests) > 1:
            raise BadOption("--seat", f"several choose at once at {match.n}, say which: {there}")
        return next(iter(requests.values()))
    if seat not in requests:
        raise BadOption("--seat", f"seat {seat} was not asked at {match.n}, but {there}")
    return requests[seat]
