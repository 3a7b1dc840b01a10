"""Elo for tables of 2 to 10: every pair of seats is a little game. Storing and folding belong to the record.

All values are whole micro-points (1,000,000 to the point), so that a ladder refolded on any machine is
bit for bit the same. Source: A. Elo, The Rating of Chessplayers (1978), by pairwise decomposition.
"""

from collections.abc import Sequence

MICRO = 1_000_000
START = 1_500 * MICRO  # a bot's rating before its first match
K_PROVISIONAL = 40  # points at stake in a match, for a bot's first PROVISIONAL_GAMES
K_SETTLED = 20
PROVISIONAL_GAMES = 30
SCALE = 10**9  # an expectation of 1

_FAR = 2_000  # differences beyond this many points count as this many
_BITS = 160


def elo_changes(ratings: Sequence[int], games: Sequence[int], placements: Sequence[int]) -> list[int]:
    """The change of each seat's rating, in micro-points; the changes add up to zero.

    ``ratings`` and ``games`` (rated matches before this one) are by seat, like ``placements`` (1 is best, equal
    numbers tie). A pair of seats stakes the mean of its two K, shared among the n − 1 pairs of a seat.
    """
    seats = len(ratings)
    changes = [0] * seats
    for one in range(seats):
        for other in range(one + 1, seats):
            stake = (k_factor(games[one]) + k_factor(games[other])) * MICRO
            surprise = _score(placements[one], placements[other]) - expectation(ratings[one] - ratings[other])
            change = _divided(stake * surprise, 2 * SCALE * (seats - 1))
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
    if difference_micro < 0:
        return SCALE - expectation(-difference_micro)
    points, rest = divmod(min(difference_micro, _FAR * MICRO), MICRO)
    low = _TABLE[points]
    return low + (_TABLE[points + 1] - low) * rest // MICRO if rest else low


def _score(own: int, other: int) -> int:
    if own == other:
        return SCALE // 2
    return SCALE if own < other else 0


def _divided(number: int, by: int) -> int:
    """Rounded half away from zero, so that it does not matter which seat of a pair comes first."""
    size = (2 * abs(number) + by) // (2 * by)
    return size if number >= 0 else -size


def _expectations() -> list[int]:
    """The table by whole-number arithmetic alone: no platform's rounding can enter."""
    one = 1 << _BITS
    # The 400th root of ten, found by bisection in whole numbers.
    low, high = one, 2 * one
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _power(middle, 400) <= 10 * one else (low, middle)
    table, odds = [], one
    for _ in range(_FAR + 2):
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


_TABLE = _expectations()
