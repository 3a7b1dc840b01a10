"""Compute the totals of each entrant over a tournament, and the tie-break columns that follow from them."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from referee.pairing.history import half_points
from referee.standings.results import MatchOutcome


class ScoredBye(NamedTuple):
    """Represent a bye that counts, with its total points and the number of matches that it replaces."""

    entrant: Hashable
    points: Fraction
    matches: int = 1


Column = Mapping[Hashable, Fraction]


@dataclass(frozen=True, slots=True)
class EntrantTotals:
    """Hold the totals of each entrant from matches and byes. Points are integers in units of ``1 / unit``, because
    adding fractions would take ten times as long."""

    unit: int
    outcomes: Sequence[MatchOutcome]
    byes: Sequence[ScoredBye]
    points: Mapping[Hashable, int]  # from matches and byes
    matches: Mapping[Hashable, int]
    bye_matches: Mapping[Hashable, int]  # matches that byes replace
    byes_had: Mapping[Hashable, int]
    wins: Mapping[Hashable, int]
    draws: Mapping[Hashable, int]
    returns: Mapping[Hashable, int]

    @property
    def max_matches(self) -> int:
        """Return the largest number of matches of any entrant, including those that byes replace."""
        return max((self.matches[entrant] + self.bye_matches[entrant] for entrant in self.points), default=0)


def sum_results(
    entrants: Iterable[Hashable], outcomes: Sequence[MatchOutcome], byes: Iterable[ScoredBye] = ()
) -> EntrantTotals:
    """Return the totals of ``entrants``. Ignore all other entrants."""
    gained: dict[Hashable, int] = dict.fromkeys(entrants, 0)
    matches, bye_matches, byes_had, wins, draws, returns = (dict.fromkeys(gained, 0) for _ in range(6))
    scored_byes = [bye for bye in byes if bye.entrant in gained]
    sizes = {len(outcome.placements) for outcome in outcomes}
    unit = lcm(2, *(2 * (size - 1) for size in sizes), *(bye.points.denominator for bye in scored_byes))
    for outcome in outcomes:
        placements = outcome.placements
        worth = unit // (2 * (len(placements) - 1))
        scored = half_points(placements)
        alone_first = placements.count(1) == 1
        for seat in outcome.seats_of(gained):
            entrant = outcome.entrants[seat]
            gained[entrant] += worth * scored[seat]
            matches[entrant] += 1
            first = placements[seat] == 1
            wins[entrant] += first and alone_first
            draws[entrant] += first and not alone_first
            returns[entrant] += outcome.returns[seat]
    for bye in scored_byes:
        gained[bye.entrant] += int(bye.points * unit)
        bye_matches[bye.entrant] += bye.matches
        byes_had[bye.entrant] += 1
    return EntrantTotals(unit, outcomes, scored_byes, gained, matches, bye_matches, byes_had, wins, draws, returns)


# -- columns --


def total_points(totals: EntrantTotals) -> Column:
    return {entrant: Fraction(gained, totals.unit) for entrant, gained in totals.points.items()}


def points_per_match(totals: EntrantTotals) -> Column:
    """Return points per match played, without byes, or 0 for an entrant without a match."""
    played = dict(totals.points)
    for bye in totals.byes:
        played[bye.entrant] -= int(bye.points * totals.unit)
    return {entrant: Fraction(played[entrant], totals.unit * max(1, totals.matches[entrant])) for entrant in played}


def wins(totals: EntrantTotals) -> Column:
    return {entrant: Fraction(won) for entrant, won in totals.wins.items()}


def buchholz(totals: EntrantTotals) -> Column:
    """Return the opponents' points: the mean over each table, summed over the matches.

    An opponent counts with its points plus half a point for every match it missed. A bye, a missed match and a seat in
    which a substitute played each count as an opponent with the entrant's own points. This extends FIDE Handbook C.07
    (2023), 8.1 and 16, to more than two seats.
    """
    contribution, scale = _contributions(totals), _scale(totals)
    own, full = totals.points, totals.max_matches
    total = {entrant: scale * gained * (full - totals.matches[entrant]) for entrant, gained in own.items()}
    for outcome in totals.outcomes:
        size = len(outcome.entrants)
        seated = [outcome.entrants[seat] for seat in outcome.seats_of(own)]
        table = sum(contribution[entrant] for entrant in seated)
        for entrant in seated:
            absent = own[entrant] * (size - len(seated))
            total[entrant] += scale // (size - 1) * (table - contribution[entrant] + absent)
    return {entrant: Fraction(value, scale * totals.unit) for entrant, value in total.items()}


def sonneborn_berger(totals: EntrantTotals) -> Column:
    """Return the points of the opponents placed behind plus half the points of those tied.

    At each table the sum is divided by the number of opponents. Opponents count as for Buchholz. A bye counts as its
    points times the entrant's own points. This extends FIDE Handbook C.07 (2023), 9.1 and 16.
    """
    contribution, scale = _contributions(totals), _scale(totals)
    own = totals.points
    twice = dict.fromkeys(own, 0)
    for outcome in totals.outcomes:
        size, placements = len(outcome.entrants), outcome.placements
        present = set(outcome.seats_of(own))
        for seat in present:
            entrant, placed = outcome.entrants[seat], placements[seat]
            beaten = 0
            for other, placement in enumerate(placements):
                if other != seat and placed <= placement:
                    rival = contribution[outcome.entrants[other]] if other in present else own[entrant]
                    beaten += rival if placed == placement else 2 * rival
            twice[entrant] += scale // (size - 1) * beaten
    column = {entrant: Fraction(value, 2 * scale * totals.unit) for entrant, value in twice.items()}
    for bye in totals.byes:
        column[bye.entrant] += bye.points * Fraction(own[bye.entrant], totals.unit)
    return column


def _contributions(totals: EntrantTotals) -> Mapping[Hashable, int]:
    """Return the points with which each entrant counts for its opponents. Missed matches count as ties."""
    half, full = totals.unit // 2, totals.max_matches
    return {
        entrant: gained + half * (full - totals.matches[entrant] - totals.bye_matches[entrant])
        for entrant, gained in totals.points.items()
    }


def _scale(totals: EntrantTotals) -> int:
    """Return the least common multiple of the numbers of opponents at the tables."""
    return lcm(1, *(size - 1 for size in {len(outcome.entrants) for outcome in totals.outcomes}))
