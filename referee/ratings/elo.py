"""Compute what a pair of seats exchanges: at tables of 2 to 10 seats, every pair counts as a game of two players.

All values are whole micro-points (1,000,000 per point), so that recomputing a ladder gives the same bits on every
machine. The expectation is that of A. Elo, The Rating of Chessplayers (1978), applied to every pair of seats.
``exchange`` applies it to whole tables, and ``strengths`` has the batch fit.
"""

MICRO = 1_000_000
START = 1_500 * MICRO  # rating of a bot before its first match
PROVISIONAL_GAMES = 30  # rated matches after which a rating is settled
SCALE = 10**9  # represents an expectation of 1

_FAR = 2_000  # points; larger differences count as this one
_BITS = 160


def score(placement: int, other_placement: int) -> int:
    """Return the score of a seat against another: a win, half a win or none, in units of 1/SCALE."""
    if placement == other_placement:
        return SCALE // 2
    return SCALE if placement < other_placement else 0


def expectation(difference_micro: int) -> int:
    """Return 1 / (1 + 10^(−d/400)) in units of 1/SCALE; expectation(d) + expectation(−d) is exactly SCALE.

    Interpolate linearly in an integer table with one entry per point; the error is less than 5e-7.
    """
    base, slope = _LINES.get(difference_micro // MICRO) or _LINES[_FAR if difference_micro > 0 else -_FAR - 1]
    return (base + slope * difference_micro) // MICRO


def _line_per_point() -> dict[int, tuple[int, int]]:
    """Return the line (base, slope) of ``expectation`` for each d // MICRO, from −_FAR − 1 to _FAR whole points.

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
    """Return the expectations for differences of 0 to ``_FAR`` points. Integers make them the same on every machine."""
    one = 1 << _BITS
    # Find the 400th root of ten by bisection.
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
