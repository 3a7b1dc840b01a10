"""Elo for tables of 2 to 10: every pair of seats is a little game. Storing and folding belong to the record.

All values are whole micro-points (1,000,000 to the point), so that a ladder refolded on any machine is
bit for bit the same. Source: A. Elo, The Rating of Chessplayers (1978), by pairwise decomposition.
The batch fit beside the ladder is in ``strengths``.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations, compress
from math import gcd
from typing import Any

MICRO = 1_000_000
START = 1_500 * MICRO  # a bot's rating before its first match
K_PROVISIONAL = 40  # points at stake in a match, for a bot's first PROVISIONAL_GAMES
K_SETTLED = 20
PROVISIONAL_GAMES = 30
SCALE = 10**9  # an expectation of 1

_UNIT = gcd(K_PROVISIONAL, K_SETTLED)  # both K are whole multiples: small numbers are quick ones
_FAR = 2_000  # differences beyond this many points count as this many
_BITS = 160


def elo_changes(
    ratings: Sequence[int], games: Sequence[int], placements: Sequence[int], rated: Sequence[bool] | None = None
) -> list[int]:
    """The change of each seat's rating, in micro-points; the changes add up to zero.

    ``ratings`` and ``games`` (rated matches before this one) are by seat, like ``placements`` (1 is best, equal
    numbers tie) and ``rated`` (all, unless said). A pair of seats stakes the mean of its two K, shared among the
    n − 1 pairs of a seat. A seat that is not rated takes no part: its change is 0, and n counts the others; where
    fewer than two are left, nobody moves. What comes to half a micro-point is rounded away from zero, so that it
    does not matter which seat of a pair comes first.
    """
    if rated is not None and not all(rated):
        return _changes_of_rated(ratings, games, placements, rated)
    return _written_out(len(ratings))(ratings, games, placements)


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


def _changes_of_rated(
    ratings: Sequence[int], games: Sequence[int], placements: Sequence[int], rated: Sequence[bool]
) -> list[int]:
    moves = iter(
        elo_changes(list(compress(ratings, rated)), list(compress(games, rated)), list(compress(placements, rated)))
    )
    return [next(moves) if counts else 0 for counts in rated]


# What one pair of seats adds to their changes c, from their ratings r, placements p and K k (in units of _UNIT).
_PAIR = """
    gap = r{other} - r{one}
    try:
        base, slope = lines[gap // {MICRO}]
        surprise = (base + slope * gap) // {MICRO}  # of ``one``, if it wins: what was expected of ``other``
    except KeyError:
        surprise = expectation(gap)
    if p{one} < p{other}:
        change = (surprise * (k{one} + k{other}) + {half}) // {by}
    elif p{one} > p{other}:
        change = ((surprise - {SCALE}) * (k{one} + k{other}) + {half} - 1) // {by}
    else:
        surprise -= {SCALE} // 2
        change = (surprise * (k{one} + k{other}) + {half} - (surprise < 0)) // {by}
    c{one} += change
    c{other} -= change
"""


@cache
def _written_out(seats: int) -> Callable[[Sequence[int], Sequence[int], Sequence[int]], list[int]]:
    """``elo_changes`` for so many rated seats, pair after pair without loops or lists: twice as fast as with them."""

    def each(form: str) -> str:
        return "".join(form.format(seat=seat) for seat in range(seats))

    by = 2 * SCALE // (MICRO * _UNIT) * (seats - 1)  # stakes are means of two K, surprises are in units of 1/SCALE
    lines = [
        "def changes(ratings, games, placements):",
        f"    ({each('r{seat}, ')}), ({each('g{seat}, ')}), ({each('p{seat}, ')}) = ratings, games, placements",
        each(
            f"    k{{seat}} = {K_PROVISIONAL // _UNIT} if g{{seat}} < {PROVISIONAL_GAMES} else {K_SETTLED // _UNIT}\n"
        ),
        each("    c{seat} = 0\n"),
        *(
            _PAIR.format(one=one, other=other, by=by, half=by // 2, MICRO=MICRO, SCALE=SCALE)
            for one, other in combinations(range(seats), 2)
        ),
        f"    return [{each('c{seat}, ')}]",
    ]
    names: dict[str, Any] = {"lines": _LINES, "expectation": expectation}
    exec("\n".join(lines), names)  # noqa: S102  # nothing but names and numbers of this file goes into the text
    return names["changes"]  # type: ignore[no-any-return]  # the text above says what it is


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


def _lines() -> dict[int, tuple[int, int]]:
    """``expectation`` as one line (base, slope) for each point between −_FAR and _FAR.

    With d the difference, expectation(d) = (base + slope d) // MICRO for the line of d // MICRO, exactly: below zero
    the rounding is the mirror image's, which the base brings about.
    """
    lines = {}
    for points in range(_FAR):
        slope = _TABLE[points + 1] - _TABLE[points]
        base = (_TABLE[points] - slope * points) * MICRO
        lines[points] = base, slope
        lines[-points - 1] = SCALE * MICRO - base + MICRO - 1, slope
    return lines


_TABLE = _expectations()
_LINES = _lines()
