"""Sums over an event, from which the columns of a table are read. Who stands where is the table's."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from referee.standings.results import MatchOutcome, shares


class ScoredBye(NamedTuple):
    """A bye that counts: what it brings in all, and the matches it stands for (those of a table of its stage)."""

    entrant: Hashable
    points: Fraction
    matches: int = 1


Column = Mapping[Hashable, Fraction]


@dataclass(frozen=True, slots=True)
class EntrantTotals:
    """What each entrant has from its matches and byes. Points are whole numbers of ``1 / unit``: sums of fractions
    would cost ten times as much."""

    unit: int
    outcomes: Sequence[MatchOutcome]
    byes: Sequence[ScoredBye]
    points: Mapping[Hashable, int]  # of matches and byes
    matches: Mapping[Hashable, int]
    rested: Mapping[Hashable, int]  # matches that byes stand for
    byes_had: Mapping[Hashable, int]
    wins: Mapping[Hashable, int]
    returns: Mapping[Hashable, int]

    @property
    def full(self) -> int:
        """The most matches that anybody has, byes included."""
        return max((self.matches[entrant] + self.rested[entrant] for entrant in self.points), default=0)


def tally(
    entrants: Iterable[Hashable], outcomes: Sequence[MatchOutcome], byes: Iterable[ScoredBye] = ()
) -> EntrantTotals:
    """Adds up what counts for these entrants; whoever is not among them is passed over."""
    gained: dict[Hashable, int] = dict.fromkeys(entrants, 0)
    matches, rested, byes_had, wins, returns = (dict.fromkeys(gained, 0) for _ in range(5))
    scored_byes = [bye for bye in byes if bye.entrant in gained]
    sizes = {len(outcome.placements) for outcome in outcomes}
    unit = lcm(2, *(2 * (size - 1) for size in sizes), *(bye.points.denominator for bye in scored_byes))
    for outcome in outcomes:
        placements = outcome.placements
        worth = unit // (2 * (len(placements) - 1))
        share = shares(placements)
        alone_first = placements.count(1) == 1
        for seat in outcome.seats_of(gained):
            entrant = outcome.entrants[seat]
            gained[entrant] += worth * share[seat]
            matches[entrant] += 1
            wins[entrant] += alone_first and placements[seat] == 1
            returns[entrant] += outcome.returns[seat]
    for bye in scored_byes:
        gained[bye.entrant] += int(bye.points * unit)
        rested[bye.entrant] += bye.matches
        byes_had[bye.entrant] += 1
    return EntrantTotals(unit, outcomes, scored_byes, gained, matches, rested, byes_had, wins, returns)


# -- columns --


def total_points(sums: EntrantTotals) -> Column:
    return {entrant: Fraction(gained, sums.unit) for entrant, gained in sums.points.items()}


def points_per_match(sums: EntrantTotals) -> Column:
    """Points of matches played by their number; byes do not count, nobody's 0 without a match."""
    played = dict(sums.points)
    for bye in sums.byes:
        played[bye.entrant] -= int(bye.points * sums.unit)
    return {entrant: Fraction(played[entrant], sums.unit * max(1, sums.matches[entrant])) for entrant in played}


def wins(sums: EntrantTotals) -> Column:
    return {entrant: Fraction(won) for entrant, won in sums.wins.items()}


def buchholz(sums: EntrantTotals) -> Column:
    """The points of the opponents: at each table their mean, over the matches the sum.

    An opponent brings its points and half a point for every match it missed; a bye, a match missed and a seat
    played by a stand-in count as an opponent with the entrant's own points. After FIDE Handbook C.07 (2023),
    8.1 and 16, which know two seats only.
    """
    brings, scale = _brings(sums), _scale(sums)
    own, full = sums.points, sums.full
    total = {entrant: scale * gained * (full - sums.matches[entrant]) for entrant, gained in own.items()}
    for outcome in sums.outcomes:
        size = len(outcome.entrants)
        seated = [outcome.entrants[seat] for seat in outcome.seats_of(own)]
        table = sum(brings[entrant] for entrant in seated)
        for entrant in seated:
            absent = own[entrant] * (size - len(seated))
            total[entrant] += scale // (size - 1) * (table - brings[entrant] + absent)
    return {entrant: Fraction(value, scale * sums.unit) for entrant, value in total.items()}


def sonneborn_berger(sums: EntrantTotals) -> Column:
    """The points of the opponents left behind and half of those of the level ones: at each table divided by the
    number of opponents, summed over the matches. Opponents bring what they bring to Buchholz; a bye brings its
    points times the entrant's own. After FIDE Handbook C.07 (2023), 9.1 and 16."""
    brings, scale = _brings(sums), _scale(sums)
    own = sums.points
    twice = dict.fromkeys(own, 0)
    for outcome in sums.outcomes:
        size, placements = len(outcome.entrants), outcome.placements
        present = set(outcome.seats_of(own))
        for seat in present:
            entrant, placed = outcome.entrants[seat], placements[seat]
            beaten = 0
            for other, placement in enumerate(placements):
                if other != seat and placed <= placement:
                    rival = brings[outcome.entrants[other]] if other in present else own[entrant]
                    beaten += rival if placed == placement else 2 * rival
            twice[entrant] += scale // (size - 1) * beaten
    column = {entrant: Fraction(value, 2 * scale * sums.unit) for entrant, value in twice.items()}
    for bye in sums.byes:
        column[bye.entrant] += bye.points * Fraction(own[bye.entrant], sums.unit)
    return column


def _brings(sums: EntrantTotals) -> Mapping[Hashable, int]:
    """What each entrant is worth to its opponents' columns: its points, a missed match counted as level."""
    half, full = sums.unit // 2, sums.full
    return {
        entrant: gained + half * (full - sums.matches[entrant] - sums.rested[entrant])
        for entrant, gained in sums.points.items()
    }


def _scale(sums: EntrantTotals) -> int:
    """What every table's number of opponents divides."""
    return lcm(1, *(size - 1 for size in {len(outcome.entrants) for outcome in sums.outcomes}))
