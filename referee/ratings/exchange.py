"""Compute what the seats of a match exchange: stakes, anchors, and caps on a day's exchange.

``elo`` has the arithmetic of a pair of seats. Which values a bot starts from, and in which order results count, is the
task of ``referee.ladders.rating_replay``.
"""

from collections.abc import MutableMapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from referee.ratings.elo import MICRO, PROVISIONAL_GAMES, pair_gain

K_NEW: Final = 64  # points at stake per match during the first NEW_MATCHES
K_PROVISIONAL: Final = 40
K_SETTLED: Final = 20
NEW_MATCHES: Final = 10
OWNERS_CAP: Final = 64 * MICRO  # net exchange of two owners in a day
ANCHORS_CAP: Final = 32 * MICRO  # net gain of an owner's settled bots from all anchors; 64 would let farmers gain more
INHERITANCE_DAYS: Final = 30  # a new bot inherits the rating of a bot of its owner that played at most so long ago
ANCHORS: Final = ""  # the party that all anchors form; no owner has this id

Parties = tuple[str, str]  # ids of two owners in ascending order, or ANCHORS and the id of an owner


class Seat(NamedTuple):
    """Hold a seat that counts: its rating in micro-points before the match, its stake, owner and placement.

    An anchor has the owner ``ANCHORS``. Its stake is that of its opponent, and its rating does not change.
    """

    rating: int
    k: int
    owner: str
    placement: int


def stake(games: int) -> int:
    """Return the K factor of a bot after ``games`` rated matches, in points."""
    if games < NEW_MATCHES:
        return K_NEW
    return K_PROVISIONAL if games < PROVISIONAL_GAMES else K_SETTLED


def exchange(seats: Sequence[Seat], exchanged: MutableMapping[Parties, int]) -> list[int]:
    """Return what each seat gains in micro-points; the gains, including those of anchors, add up to zero.

    ``exchanged`` has the net gain today of the second party of each pair from the first. It is updated and limits the
    exchange: that of two owners to ``OWNERS_CAP`` either way, that of an owner's settled bots with all anchors to a net
    gain of ``ANCHORS_CAP``. What exceeds the limit is not exchanged. Anchors exchange nothing with each other.
    """
    gains = [0] * len(seats)
    for first, second in combinations(range(len(seats)), 2):
        one, other = seats[first], seats[second]
        if one.owner == other.owner == ANCHORS:
            continue
        has_anchor = ANCHORS in (one.owner, other.owner)
        k_sum = 2 * max(one.k, other.k) if has_anchor else one.k + other.k
        gain = pair_gain(one.rating, other.rating, one.placement, other.placement, k_sum, len(seats))
        if has_anchor and k_sum > 2 * K_SETTLED:
            pass  # no limit, so that a bot that is alone finds its rating in its first matches
        elif one.owner < other.owner:  # reckon from the second party, which is the owner where the other is an anchor
            gain = -_limit(exchanged, (one.owner, other.owner), -gain)
        else:
            gain = _limit(exchanged, (other.owner, one.owner), gain)
        gains[first] += gain
        gains[second] -= gain
    return gains


def _limit(exchanged: MutableMapping[Parties, int], parties: Parties, gain: int) -> int:
    """Return how much of ``gain`` the second party gets, and add it to the day's sum."""
    before = exchanged.get(parties, 0)
    if parties[0] == ANCHORS:
        after = min(before + gain, ANCHORS_CAP)
    else:
        after = max(min(before + gain, OWNERS_CAP), -OWNERS_CAP)
    exchanged[parties] = after
    return after - before
