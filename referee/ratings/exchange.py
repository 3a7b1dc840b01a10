"""Compute what the seats of a match exchange: K factors, anchors, and caps on a day's exchange.

``elo`` has the arithmetic of a pair of seats. Which values a bot starts from, and in which order results count, is the
task of ``referee.ladders.rating_replay``.

Each bot has a K factor of its own, which falls as the matches of its present version tell more: the information of a
game of two is 4 E (1 − E), 1 between equals, and K = 695 / (information + 3) is the step of the estimator that is best
after as much information (J. Sacks, Asymptotic Distribution of Stochastic Approximation Procedures, Annals of
Mathematical Statistics 29, 1958): 695 is 4 · 400 / ln 10, and 3 stands for what is known of a new bot, whose strength
has a standard deviation of 200 points.
"""

from collections.abc import MutableMapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final, NamedTuple

from referee.ratings.elo import MICRO, SCALE, expectation, surprise

K_ONE: Final = 695 * MICRO  # K times the information
K_MAX: Final = 128 * MICRO  # for each other seat
K_MIN: Final = 2 * MICRO  # so that a rating still follows when its opponents change
K_SETTLED: Final = 20 * MICRO  # at most this: the cap of what anchors give holds
KNOWN: Final = 3 * MICRO  # information that counts as given
KEPT: Final = 6 * MICRO  # information that a new version keeps at most
MAX_SEATS: Final = 10
OWNERS_CAP: Final = 64 * MICRO  # net exchange of two owners in a day
ANCHORS_CAP: Final = 32 * MICRO  # net gain of an owner's settled bots from all anchors; 64 would let farmers gain more
INHERITANCE_DAYS: Final = 30  # a new bot inherits the rating of a bot of its owner that played at most so long ago
ANCHORS: Final = ""  # the party that all anchors form; no owner has this id

Parties = tuple[str, str]  # ids of two owners in ascending order, or ANCHORS and the id of an owner


class Seat(NamedTuple):
    """Hold a seat that counts: its rating in micro-points before the match, its information, owner and placement.

    ``information`` is what the matches of the bot's version have told, in millionths of a game of two equals. An anchor
    has the owner ``ANCHORS``; its rating does not change.
    """

    rating: int
    information: int
    owner: str
    placement: int


class Change(NamedTuple):
    """Hold what a match changes for a seat: its rating and balance in micro-points, and its information.

    The balance is what the seat would have gained in addition if every pair had staked the mean of its K factors. So
    ratings and balances of all seats together change by zero.
    """

    rating: int = 0
    balance: int = 0
    information: int = 0

    def plus(self, other: "Change") -> "Change":
        return Change(*(own + more for own, more in zip(self, other, strict=True)))


def k_factor(information: int, seats: int) -> int:
    """Return the points at stake for a bot in a match in which ``seats`` count, in micro-points."""
    return max(K_MIN, min(K_MAX * (seats - 1), K_ONE * GAMES[seats] // (information + KNOWN)))


def exchange(seats: Sequence[Seat], exchanged: MutableMapping[Parties, int]) -> list[Change]:
    """Return the change of each seat. Anchors exchange nothing with each other.

    ``exchanged`` has the net gain today of the second party of each pair from the first, in micro-points, with the mean
    of the two K factors, but at least ``K_SETTLED``, at stake. It is updated and limits the exchange: that of two
    owners to ``OWNERS_CAP`` either way, that of an owner's settled bots with all anchors to a net gain of
    ``ANCHORS_CAP``. What exceeds the limit changes no rating and tells nothing.
    """
    changes = [Change()] * len(seats)
    factors = [0 if seat.owner == ANCHORS else k_factor(seat.information, len(seats)) for seat in seats]
    for first, second in combinations(range(len(seats)), 2):
        one, other = seats[first], seats[second]
        if one.owner == other.owner == ANCHORS:
            continue
        surprise_of_one = surprise(one.rating, other.rating, one.placement, other.placement)
        is_anchored = ANCHORS in (one.owner, other.owner)
        k, other_k = 2 * factors[first], 2 * factors[second]
        both = k + other_k if is_anchored else (k + other_k) // 2
        gain, loss, stake, amount = (
            _rounded(surprise_of_one * factor, 2 * SCALE * (len(seats) - 1))
            for factor in (k, other_k, both, max(both, 2 * K_SETTLED))
        )
        told = _told(one.rating - other.rating, len(seats))
        if not (is_anchored and both > 2 * K_SETTLED):  # a bot that is alone finds its rating in its first matches
            counted = _limit(exchanged, one.owner, other.owner, amount)
            if counted != amount:
                gain, loss, stake, told = (_part(value, counted, amount) for value in (gain, loss, stake, told))
        changes[first] = changes[first].plus(Change(gain, stake - gain, told if k else 0))
        changes[second] = changes[second].plus(Change(-loss, loss - stake, told if other_k else 0))
    return changes


def _told(difference: int, seats: int) -> int:
    """Return the information of one of the pairs of a seat whose ratings differ by as much."""
    expected = expectation(difference)
    return 4 * GAMES[seats] * expected * (SCALE - expected) // (SCALE**2 * (seats - 1))


def _limit(exchanged: MutableMapping[Parties, int], owner: str, other: str, amount: int) -> int:
    """Return how much the first of two parties gets of an amount, and add it to the day's sum."""
    if owner < other:  # reckon from the second party, which is the owner where the other is an anchor
        return -_add_up_to_cap(exchanged, (owner, other), -amount)
    return _add_up_to_cap(exchanged, (other, owner), amount)


def _part(value: int, counted: int, amount: int) -> int:
    """Return value × |counted / amount|, rounded towards zero."""
    return abs(value) * abs(counted) // abs(amount) * (1 if value > 0 else -1)


def _rounded(dividend: int, divisor: int) -> int:
    """Return the quotient, rounded; halves are rounded away from zero."""
    return (2 * abs(dividend) + divisor) // (2 * divisor) * (1 if dividend > 0 else -1)


def _add_up_to_cap(exchanged: MutableMapping[Parties, int], parties: Parties, gain: int) -> int:
    """Return how much of ``gain`` counts for the second party, and add it to the day's sum."""
    before = exchanged.get(parties, 0)
    if parties[0] == ANCHORS:
        after = min(before + gain, ANCHORS_CAP)
    else:
        after = max(min(before + gain, OWNERS_CAP), -OWNERS_CAP)
    exchanged[parties] = after
    return after - before


def _games() -> list[int]:
    """Return how many games of two equals a match of equals tells as much as, in millionths, by its seats.

    In the model of Plackett and Luce this is 4 (n − 1 − 1/2 − … − 1/n) / n for n seats.
    """
    harmonic = [sum(Fraction(1, seat) for seat in range(1, seats + 1)) for seats in range(1, MAX_SEATS + 1)]
    return [0, *(round(4 * MICRO * (seats - part) / seats) for seats, part in enumerate(harmonic, 1))]


GAMES: Final = _games()
