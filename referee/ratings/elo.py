"""Elo for tables of 2 to 10: every pair of seats is a little game. Storing and folding belong to the record.

All values are whole micro-points (1,000,000 to the point), so that a ladder refolded on any machine is
bit for bit the same. Source: A. Elo, The Rating of Chessplayers (1978), by pairwise decomposition.
The batch fit beside the ladder is in ``strengths``.
"""

from collections.abc import Sequence
from itertools import combinations

MICRO = 1_000_000
START = 1_500 * MICRO  # a bot's rating before its first match
K_PROVISIONAL = 40  # points at stake in a match, for a bot's first PROVISIONAL_GAMES
K_SETTLED = 20
PROVISIONAL_GAMES = 30
SCALE = 10**9  # an expectation of 1

_FAR = 2_000  # differences beyond this many points count as this many
_BITS = 160


def elo_changes(
    ratings: Sequence[int], games: Sequence[int], placements: Sequence[int], rated: Sequence[bool] | None = None
) -> list[int]:
    """Return the change of each seat's rating, in micro-points; the changes add up to zero.

    ``ratings`` and ``games`` (rated matches before this one) are by seat, like ``placements`` (1 is best, equal
    numbers tie) and ``rated`` (all, unless said). A pair of seats stakes the mean of its two K, shared among the
    n − 1 pairs of a seat. A seat that is not rated takes no part: its change is 0, and n counts the others; where
    fewer than two are left, nobody moves. What comes to half a micro-point is rounded away from zero, so that it
    does not matter which seat of a pair comes first.
    """
    seats = [seat for seat in range(len(ratings)) if rated is None or rated[seat]]
    k_factors = [k_factor(played) for played in games]
    divisor = 2 * SCALE // MICRO * (len(seats) - 1)  # 2: a stake is the mean of two K
    changes = [0] * len(ratings)
    for one, other in combinations(seats, 2):
        surprise = expectation(ratings[other] - ratings[one])  # the score of ``one`` less what was expected of it
        if placements[one] > placements[other]:
            surprise -= SCALE
        elif placements[one] == placements[other]:
            surprise -= SCALE // 2
        gain = surprise * (k_factors[one] + k_factors[other])
        change = (gain + divisor // 2 - (gain < 0)) // divisor
        changes[one] += change
        changes[other] -= change
    return changes


def k_factor(games: int) -> int:
    """The points a bot stakes after so many rated matches: more while its rating is provisional."""
    return K_PROVISIONAL if games < PROVISIONAL_GAMES else K_SETTLED


def expectation(difference_micro: int) -> int:
    """1 / (1 + 10^(−d/400)) in units of 1/SCALE; expectation(d) + expectation(−d) is exactly SCALE.

    Read from an integer table a point apart, straight lines between: off by less than 5e-7.
    """
    base, slope = _LINES.get(difference_micro // MICRO) or _LINES[_FAR if difference_micro > 0 else -_FAR - 1]
    return (base + slope * difference_micro) // MICRO


def _line_per_point() -> dict[int, tuple[int, int]]:
    """Return the line (base, slope) of ``expectation`` for each whole point d // MICRO from −_FAR − 1 to _FAR.

    expectation(d) is (base + slope d) // MICRO. For a negative d the base makes the division round up, so that
    expectation(d) and expectation(−d) add up to SCALE. The two outermost lines are level.
    """
    table = _expectations()
    lines = {}
    for points, expected in enumerate(table):
        slope = table[min(points + 1, _FAR)] - expected
        base = (expected - slope * points) * MICRO
        lines[points] = base, slope
        lines[-points - 1] = SCALE * MICRO - base + MICRO - 1, slope
    return lines


def _expectations() -> list[int]:
    """The table by whole-number arithmetic alone: no platform's rounding can enter."""
    one = 1 << _BITS
    # The 400th root of ten, found by bisection in whole numbers.
    low, high = one, 2 * one
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _power(middle, 400) <= 10 * one else (low, middle)
    table, odds = [], one
    for _ in range(_FAR + 1):
        table.append((2 * SCALE * odds + one + odds) // (2 * (one + odds)))
        odds = odds * low >> _BITS
    return table


def _power(base: int, exponent: int) -> int:
    result = 1 << _BITS
    while exponent:
        if exponent & 1:
            result = result * base >> _BITS
        base = base * base >> _BITS
        exponent >>= 1
    return result


_LINES = _line_per_point()
