"""What a standing is made of: finished matches that count, and their points. Fetching them is the record's."""

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """A finished match that counts, everything by seat.

    ``group`` is its deal group, ``stage`` and ``seq`` say where in the event it was played. A seat that is not
    ``scored`` was played by a stand-in: it brings its entrant nothing, the others at the table keep what they
    scored. None: every seat is scored.
    """

    entrants: Sequence[Hashable]
    placements: Sequence[int]
    returns: Sequence[int]
    group: str
    stage: int | None = None
    seq: int = 0
    scored: Sequence[bool] | None = None

    def seats_of(self, entrants: Collection[Hashable]) -> list[int]:
        """The scored seats whose entrant is among these."""
        scored = self.scored
        return [
            seat
            for seat, entrant in enumerate(self.entrants)
            if (scored is None or scored[seat]) and entrant in entrants
        ]


def shares(placements: Sequence[int]) -> list[int]:
    """Of each seat: twice the opponents left behind, and once those it is level with."""
    if len(placements) == 2:  # by far the most frequent, and four times as fast
        one, other = placements
        return [2, 0] if one < other else [0, 2] if other < one else [1, 1]
    return [2 * sum(other > own for other in placements) + placements.count(own) - 1 for own in placements]


def points(placements: Sequence[int]) -> list[Fraction]:
    """The points of each seat for one match: (worse seats + half of the tied ones) / (seats − 1)."""
    return [Fraction(share, 2 * (len(placements) - 1)) for share in shares(placements)]


def comparisons(outcome: MatchOutcome, seats: Sequence[int]) -> Iterator[tuple[Hashable, Hashable, int]]:
    """Every ordered pair of these seats as (entrant, rival, half points): 2 placed before it, 1 level, 0 behind."""
    entrants, placements = outcome.entrants, outcome.placements
    for seat in seats:
        own = placements[seat]
        for other in seats:
            if other != seat:
                rival = placements[other]
                yield entrants[seat], entrants[other], 2 if own < rival else 1 if own == rival else 0
