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

from referee.ratings.elo import MICRO, SCALE, expectation, score

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
    changes = [[0, 0, 0] for _ in seats]
    factors = [0 if seat.owner == ANCHORS else k_factor(seat.information, len(seats)) for seat in seats]
    unit, games = SCALE * (len(seats) - 1), 4 * GAMES[len(seats)]
    for first, second in combinations(range(len(seats)), 2):
        one, other, k, other_k = seats[first], seats[second], factors[first], factors[second]
        if not (k or other_k):
            continue
        is_anchored = not (k and other_k)
        both = 2 * (k + other_k) if is_anchored else k + other_k  # twice the common stake
        expected = expectation(one.rating - other.rating)
        won = score(one.placement, other.placement) - expected
        size, sign = (won, 1) if won > 0 else (-won, -1)
        # Without sign and rounded, with halves up.
        gain, loss = (2 * size * k + unit) // (2 * unit), (2 * size * other_k + unit) // (2 * unit)
        stake = (size * both + unit) // (2 * unit)
        told = games * expected * (SCALE - expected) // (SCALE * unit)
        if not (is_anchored and both > 2 * K_SETTLED):  # a bot that is alone finds its rating in its first matches
            amount = max(stake, (2 * size * K_SETTLED + unit) // (2 * unit))
            counted = _count_up_to_cap(exchanged, one.owner, other.owner, sign * amount)
            if counted != amount:
                gain, loss, stake, told = (value * counted // amount for value in (gain, loss, stake, told))
        for change, own, own_sign in ((changes[first], gain, sign), (changes[second], loss, -sign)):
            change[0] += own_sign * own
            change[1] += own_sign * (stake - own)
            change[2] += told
    return [
        Change(gained, balance, told if k else 0) for (gained, balance, told), k in zip(changes, factors, strict=True)
    ]


def _count_up_to_cap(exchanged: MutableMapping[Parties, int], owner: str, other: str, gain: int) -> int:
    """Add what the first of two parties gains to the day's sum, up to the cap. Return how much counts, without sign."""
    # The sum is that of the second party, which is the owner where the other is an anchor.
    parties, gain = ((owner, other), -gain) if owner < other else ((other, owner), gain)
    before = exchanged.get(parties, 0)
    after = min(before + gain, OWNERS_CAP if parties[0] != ANCHORS else ANCHORS_CAP)
    if parties[0] != ANCHORS:
        after = max(after, -OWNERS_CAP)
    exchanged[parties] = after
    return abs(after - before)


def _games() -> list[int]:
    """Return how many games of two equals a match of equals tells as much as, in millionths, by its seats.

    In the model of Plackett and Luce this is 4 (n − 1 − 1/2 − … − 1/n) / n for n seats.
    """
    harmonic = [sum(Fraction(1, seat) for seat in range(1, seats + 1)) for seats in range(1, MAX_SEATS + 1)]
    return [0, *(round(4 * MICRO * (seats - part) / seats) for seats, part in enumerate(harmonic, 1))]


GAMES: Final = _games()
