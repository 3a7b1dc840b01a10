"""Represent the results from which standings are computed: finished matches that count, and their points."""

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from referee.pairing.history import half_points


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """Represent a finished match that counts. Sequences have one entry per seat.

    ``group`` is the deal group; ``tournament_round`` and ``seq`` locate the match in the tournament. ``scored`` is
    false for seats in which a substitute played: their entrants score nothing, while the others keep their scores. None
    means that every seat is scored.
    """

    entrants: Sequence[Hashable]
    placements: Sequence[int]
    returns: Sequence[int]
    group: str
    tournament_round: int | None = None
    seq: int = 0
    scored: Sequence[bool] | None = None

    def seats_of(self, entrants: Collection[Hashable]) -> list[int]:
        """Return the numbers of the scored seats whose entrants are in ``entrants``."""
        scored = self.scored
        return [
            seat
            for seat, entrant in enumerate(self.entrants)
            if (scored is None or scored[seat]) and entrant in entrants
        ]


def points(placements: Sequence[int]) -> list[Fraction]:
    """Return the points of each seat for one match: (opponents behind + half of those tied) / (seats − 1)."""
    return [Fraction(scored, 2 * (len(placements) - 1)) for scored in half_points(placements)]


def comparisons(outcome: MatchOutcome, seats: Sequence[int]) -> Iterator[tuple[Hashable, Hashable, int]]:
    """Yield (entrant, rival, half points) for every ordered pair of these seats: 2 if ahead, 1 if tied, 0 if behind."""
    entrants, placements = outcome.entrants, outcome.placements
    for seat in seats:
        own = placements[seat]
        for other in seats:
            if other != seat:
                rival = placements[other]
                yield entrants[seat], entrants[other], 2 if own < rival else 1 if own == rival else 0
