"""Pair one bracket of a Dutch Swiss round: the players with the same score and those who moved down to them.

``dutch`` forms the brackets and pairs the players who stay unpaired.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Final, NamedTuple

NOBODY: Final = -1  # the partner of a player who moves down
Accepts = Callable[[Sequence[int], int], bool]  # of players who move down and the cost of the pairs and of moving
_DIGIT: Final = 20  # bits of one criterion, enough to count the pairs and half points of any bracket
_MOVED_SCORES: Final = 20  # different scores of moved players that costs distinguish, from the lowest


class Cost:
    """Define the weights of the pairing criteria.

    The cost of a way to pair a bracket is the sum of the weights of its faults. Each criterion occupies 20 separate
    bits of one large integer. No count overflows its bits, so comparing two costs compares the criteria one by one, the
    most important first, and one addition adds all criteria. The table lists them from the most to the least important,
    with their position in units of 20 bits (criteria of FIDE C.04.3):

    ===== ==================== ==========================================================================
    40    ``REMATCH``          pairs that have met
    39    ``MEETINGS``         earlier meetings of these pairs
    38    ``SIBLINGS``         pairs of one owner
    37    ``CLASH``            pairs with an absolute preference for the same seat
    36    ``DOWN``             players who move down to the next bracket
    35-16 (``moving_again``)   moved players who move down again, those with the highest score first
    15    ``FLOAT``            residents who move down, counted once more
    14    ``LOST_PAIR``        pairs that the next bracket loses because of its downfloaters (C.7)
    13    ``SEAT``             pairs due the same seat
    12    ``STRONG_SEAT``      of these, pairs with two strong preferences
    11-10 ``…_LAST``           downfloats and upfloats that repeat one of the last round
    9, 8  ``…_BEFORE``         those that repeat one of the round before
    7, 6  ``FAR_…_LAST``       half points between the two of a pair that repeats a float of the last round
    5, 4  ``FAR_…_BEFORE``     the same for the round before
    3-0   (``demote``)         the first four in a small field, where the whole round already limits them
    ===== ==================== ==========================================================================
    """

    FAR_UP_BEFORE: Final = 1 << _DIGIT * 4
    FAR_DOWN_BEFORE: Final = 1 << _DIGIT * 5
    FAR_UP_LAST: Final = 1 << _DIGIT * 6
    FAR_DOWN_LAST: Final = 1 << _DIGIT * 7
    UP_BEFORE: Final = 1 << _DIGIT * 8
    DOWN_BEFORE: Final = 1 << _DIGIT * 9
    UP_LAST: Final = 1 << _DIGIT * 10
    DOWN_LAST: Final = 1 << _DIGIT * 11
    STRONG_SEAT: Final = 1 << _DIGIT * 12
    SEAT: Final = 1 << _DIGIT * 13
    LOST_PAIR: Final = 1 << _DIGIT * 14
    FLOAT: Final = 1 << _DIGIT * 15
    DOWN: Final = 1 << _DIGIT * (16 + _MOVED_SCORES)
    CLASH: Final = 1 << _DIGIT * (17 + _MOVED_SCORES)
    SIBLINGS: Final = 1 << _DIGIT * (18 + _MOVED_SCORES)
    MEETINGS: Final = 1 << _DIGIT * (19 + _MOVED_SCORES)
    REMATCH: Final = 1 << _DIGIT * (20 + _MOVED_SCORES)
    UNLIMITED: Final = 1 << _DIGIT * (22 + _MOVED_SCORES)

    @staticmethod
    def concessions(cost: int) -> int:
        """Return the criteria above ``DOWN`` as one number, in units of a clash."""
        return cost // Cost.CLASH

    @staticmethod
    def demote(cost: int) -> int:
        """Return a cost whose concessions are moved below all other criteria."""
        return cost % Cost.CLASH + Cost.concessions(cost)

    @staticmethod
    def read_demoted(cost: int) -> int:
        """Return the concessions of a demoted cost."""
        return cost % Cost.FAR_UP_BEFORE

    @staticmethod
    def moving_again(score_rank: int) -> int:
        """Return the weight of moving a moved player down again.

        ``score_rank`` is the rank of the player's score among the moved players, from 1 for the lowest.
        """
        return Cost.DOWN + (Cost.FLOAT << _DIGIT * min(_MOVED_SCORES, score_rank))


_SLACKS: Final = (  # added to the ideal cost to get the bounds, in this order
    0,
    Cost.STRONG_SEAT - 1,
    Cost.SEAT - 1,
    2 * Cost.SEAT - 1,
    4 * Cost.SEAT - 1,
    Cost.LOST_PAIR - 1,
    3 * Cost.LOST_PAIR - 1,
    Cost.DOWN - 1,
    3 * Cost.DOWN,
)
_SMALL: Final = 40  # residents up to which the next limit applies; larger brackets are searched less
_MAX_WAYS: Final = 120  # ways to pair the moved players, each followed by pairing the rest
_TOTAL_STEPS: Final = 40  # steps of all bounds together, as a multiple of the steps of one bound
_MAX_IMPROVEMENTS: Final = 30
_MAX_EXCHANGES: Final = 40  # of one player, and the same number of two players
_EXCHANGE_REACH: Final = 8  # ranks from the middle: exchanges near it keep the best players in the upper half


class Way(NamedTuple):
    """Represent a way to pair a bracket or a part of it."""

    cost: int
    pairs: list[tuple[int, int]]
    left: list[int]  # unpaired, to be paired elsewhere or moved down


@dataclass(slots=True)
class Rules:
    """Hold the conditions and costs by which brackets are paired. Costs are sums of the weights defined in ``Cost``."""

    may_meet: Callable[[int, int], bool]
    pair_cost: Callable[[int, int], int]
    float_cost: Callable[[int], int]  # cost of moving a player down
    seat: Sequence[int | None]  # the seat that each player is due
    steps: int  # candidates tried within each bound
    score: Callable[[int], int]


@dataclass(slots=True)
class _StepBudget:
    """Limit the number of candidates that a search tries, for the current attempt and for all attempts together."""

    attempt: int = 0
    total: int = 0

    def spend(self, steps: int) -> None:
        self.attempt -= steps
        self.total -= steps

    @property
    def is_spent(self) -> bool:
        return self.attempt <= 0 or self.total <= 0


@dataclass(slots=True)
class Bracket:
    """Represent one bracket.

    ``moved`` players come from higher brackets, ``residents`` have the score of this one; both are ordered by rank.
    ``accepts`` returns whether everyone below can still be paired if the given players move down and the pairs have the
    given cost or, in the last bracket, whether the given player may get the bye. ``lost_pairs`` counts the pairs that
    the next bracket would lose if the given players moved down.
    """

    rules: Rules
    moved: list[int]
    residents: list[int]
    accepts: Accepts
    lost_pairs: Callable[[Sequence[int]], int]
    last: bool
    _budget: _StepBudget = field(default_factory=_StepBudget)

    def pairs(self) -> tuple[list[tuple[int, int]], list[int]] | None:
        """Return pairs and the players who move down, or None if no way was found within the allowed steps.

        Search for the cheapest way; of equally cheap ones, take the first in the order of transpositions and exchanges.
        Begin with a low bound on the cost and raise it step by step, so that an ideal pairing is found immediately and
        large brackets are paired without backtracking.
        """
        ideal = self._ideal_cost()
        self._budget.total = _TOTAL_STEPS * self.rules.steps
        for bound in [*(ideal + slack for slack in _SLACKS), Cost.UNLIMITED]:
            found = self._attempt(bound)
            if found is not None:
                found = self._search_cheaper(found, ideal)
                return found.pairs, found.left
        return None

    def _search_cheaper(self, found: Way, ideal: int) -> Way:
        """Return the cheapest way found, or ``found`` if none is cheaper.

        First try for the same cost of moving down with all other criteria nearly ideal; then lower the bound step by
        step.
        """
        moving_down = found.cost // Cost.LOST_PAIR * Cost.LOST_PAIR
        for slack in _SLACKS[:4]:
            bound = moving_down + slack
            if ideal < bound < found.cost and (better := self._attempt(bound)) is not None:
                found = better
                break
        for _ in range(_MAX_IMPROVEMENTS):
            if found.cost <= ideal or self._budget.total <= 0 or (better := self._attempt(found.cost - 1)) is None:
                break
            found = better
        return found

    def _ideal_cost(self) -> int:
        """Return a lower bound on the cost, from the number of pairs whose players must be due the same seat."""
        due = [self.rules.seat[player] for player in (*self.moved, *self.residents)]
        odd = len(due) % 2
        flexible = due.count(None) + odd
        same_seat = max(0, (abs(due.count(0) - due.count(1)) - flexible + 1) // 2)
        return odd * (Cost.DOWN + Cost.FLOAT) + same_seat * Cost.SEAT

    def _cost_of_moving_again(self, player: int) -> int:
        """Return the cost of moving down again a player who was already moved down; it is higher for higher scores."""
        scores = sorted({self.rules.score(other) for other in self.moved})
        return Cost.moving_again(1 + scores.index(self.rules.score(player))) + self.rules.float_cost(player)

    def _attempt(self, bound: int) -> Way | None:
        """Pair the moved players, then the rest. Return the first way found that costs at most ``bound``, or None."""
        size = len(self.moved) + len(self.residents)
        self._budget.attempt = self.rules.steps + size
        if not self.moved:
            return self._pair_homogeneous(self.residents, 0, bound)
        may_float = not self.last or size % 2 == 1
        ways = self._transpositions(self.moved, self.residents, 0, bound, may_float=may_float)
        for way in islice(ways, _MAX_WAYS if len(self.residents) <= _SMALL else 2):
            down = [player for player, other in way.pairs if other == NOBODY]
            found = self._pair_homogeneous(way.left, way.cost, bound, down)
            if found is not None:
                paired = [pair for pair in way.pairs if pair[1] != NOBODY]
                return Way(found.cost, paired + found.pairs, found.left)
            self._budget.attempt = self.rules.steps // 4
        return None

    def _pair_homogeneous(self, people: list[int], spent: int, bound: int, down: Sequence[int] = ()) -> Way | None:
        """Pair the upper half of ``people`` with the lower half.

        Move down as few players as possible in addition to ``down``. Return None if no pairing was found with a total
        cost of at most ``bound``; ``spent`` is the cost so far. Try transpositions of the lower half, then exchanges
        between the halves.
        """
        for floats in range(len(people) % 2, 2 if self.last else len(people) + 1, 2):
            cost = spent + floats * (Cost.DOWN + Cost.FLOAT)
            if cost > bound:
                return None
            found = self._pair_then_float(people, floats, cost, bound, down)
            if found is not None:
                return found
        return None

    def _pair_then_float(
        self, people: list[int], floats: int, spent: int, bound: int, down: Sequence[int]
    ) -> Way | None:
        """Pair all but ``floats`` of ``people``; the players whom a transposition leaves unpaired move down.

        Return None if no way was found with a total cost of at most ``bound``.
        """
        for upper, lower in _halves(people, (len(people) - floats) // 2):
            for way in self._transpositions(upper, lower, spent, bound, may_float=False):
                all_down = [*down, *way.left]
                total = self._add_float_cost(way.cost, way.left, all_down, bound)
                if total <= bound and self.accepts(all_down, total):
                    return Way(total, way.pairs, all_down)
            self._budget.spend(len(people) // 8)  # splitting into halves takes time too
            if self._budget.is_spent:
                return None
        return None

    def _add_float_cost(self, cost: int, floating: Sequence[int], all_down: Sequence[int], bound: int) -> int:
        """Return ``cost`` plus the cost of moving ``floating`` down. ``all_down`` are all players who move down."""
        total = cost + sum(map(self.rules.float_cost, floating))
        return total if self.last or total > bound else total + Cost.LOST_PAIR * self.lost_pairs(all_down)

    def _transpositions(
        self, upper: Sequence[int], lower: Sequence[int], spent: int, bound: int, *, may_float: bool
    ) -> Iterator[Way]:
        """Yield ways to give each of ``upper`` a partner from ``lower``, in lexicographic order of partners.

        This is a depth-first search. It backtracks as soon as the cost, including that of unavoidable pairs with equal
        seat preferences among the rest, exceeds ``bound``. With ``may_float``, players of ``upper`` may also move down.
        """
        free = list(lower)
        demand = _SeatDemand(self.rules.seat, upper, lower)
        chosen: list[tuple[int, int, int]] = []  # index among the free, partner, cost before
        cost, start = spent, 0
        while True:
            if len(chosen) == len(upper):
                partners = [partner for _, partner, _ in chosen]
                yield Way(cost, list(zip(upper, partners, strict=True)), free[:])
            elif (room := bound - cost) >= Cost.SEAT * demand.min_same_seat_pairs():
                player = upper[len(chosen)]
                choice = self._next_partner(player, free, start, room, may_float=may_float)
                if choice is not None:
                    index, added = choice
                    partner = free.pop(index) if index < len(free) else NOBODY
                    chosen.append((index, partner, cost))
                    demand.remove(player, partner)
                    cost, start = cost + added, 0
                    continue
            if not chosen or self._budget.is_spent:
                return
            index, partner, cost = chosen.pop()
            demand.restore(upper[len(chosen)], partner)
            if partner != NOBODY:
                free.insert(index, partner)
            start = index + 1

    def _next_partner(
        self, player: int, free: Sequence[int], start: int, room: int, *, may_float: bool
    ) -> tuple[int, int] | None:
        """Return the index and the cost of the first partner in ``free[start:]`` who costs at most ``room``, or None.

        The index ``len(free)``, tried last, means that the player moves down.
        """
        may_meet, pair_cost = self.rules.may_meet, self.rules.pair_cost
        for index in range(start, len(free)):
            other = free[index]
            if may_meet(player, other) and (cost := pair_cost(player, other)) <= room:
                self._budget.spend(index + 1 - start)
                return index, cost
        self._budget.spend(max(0, len(free) - start))
        if may_float and start <= len(free) and (cost := self._cost_of_moving_again(player)) <= room:
            return len(free), cost
        return None


class _SeatDemand:
    """Count the unpaired players of each half by the seat they are due (2 means either seat)."""

    __slots__ = ("lower", "seat", "upper")

    def __init__(self, seat: Sequence[int | None], upper: Sequence[int], lower: Sequence[int]) -> None:
        self.seat = seat
        self.upper, self.lower = [0, 0, 0], [0, 0, 0]
        for people, count in ((upper, self.upper), (lower, self.lower)):
            for player in people:
                count[self._due_seat(player)] += 1

    def _due_seat(self, player: int) -> int:
        due = self.seat[player]
        return 2 if due is None else due

    def remove(self, player: int, partner: int) -> None:
        self.upper[self._due_seat(player)] -= 1
        if partner != NOBODY:
            self.lower[self._due_seat(partner)] -= 1

    def restore(self, player: int, partner: int) -> None:
        self.upper[self._due_seat(player)] += 1
        if partner != NOBODY:
            self.lower[self._due_seat(partner)] += 1

    def min_same_seat_pairs(self) -> int:
        """Return a lower bound on the number of pairs of which both players are due the same seat."""
        upper, lower = self.upper, self.lower
        return max(0, upper[0] - lower[1] - lower[2]) + max(0, upper[1] - lower[0] - lower[2])


def _halves(people: Sequence[int], pairs: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the upper ``pairs`` people and the rest, then both halves with one player exchanged, then with two.

    Exchanges of players with the nearest ranks come first.
    """
    upper, lower = list(people[:pairs]), list(people[pairs:])
    yield upper, lower
    for count in (1, 2):
        leaving = list(combinations(range(max(0, pairs - _EXCHANGE_REACH), pairs), count))
        joining = list(combinations(range(pairs, min(len(people), pairs + _EXCHANGE_REACH)), count))
        exchanges = sorted(
            (sum(into) - sum(out), [-index for index in reversed(out)], into) for out in leaving for into in joining
        )
        for _, out, into in islice(exchanges, _MAX_EXCHANGES):
            gone = {-index for index in out}
            staying = [people[index] for index in range(pairs) if index not in gone]
            rest = [people[index] for index in range(pairs, len(people)) if index not in into]
            yield ([*staying, *(people[index] for index in into)], [*(people[index] for index in sorted(gone)), *rest])
