"""One bracket of a Dutch Swiss pairing: those of one score and those moved down to them. Which brackets there are,
and what happens to who stays unpaired, is not decided here."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Final

Way = tuple[int, list[tuple[int, int]], list[int]]  # what it costs, the pairs, who is left over

FREE: Final = -1  # stands for "nobody": who is paired with it moves down
DIGIT: Final = 20  # bits a criterion may count to: more than any bracket has pairs, or these differ in score
FAR_UP_BEFORE, FAR_DOWN_BEFORE, FAR_UP_LAST, FAR_DOWN_LAST = (1 << DIGIT * place for place in range(4))
UP_BEFORE, DOWN_BEFORE, UP_LAST, DOWN_LAST, STRONG, COLOUR, NEXT, FLOAT = (1 << DIGIT * place for place in range(4, 12))
GRADES: Final = 20  # the scores among those moved down that are told apart, from the lowest
DOWN: Final = FLOAT << DIGIT * (GRADES + 1)
SIBLING: Final = DOWN << DIGIT
_WITHOUT_LIMIT: Final = SIBLING << 3 * DIGIT
_SLACKS: Final = (0, STRONG - 1, COLOUR - 1, 2 * COLOUR - 1, 4 * COLOUR - 1, NEXT - 1, 3 * NEXT - 1, DOWN - 1, 3 * DOWN)
_FEW: Final = 40  # in a bracket of more residents these two are hardly looked for
_WAYS: Final = 120  # to pair those moved down, before the rest is
_BUDGET: Final = 40  # times the steps of one bound
_IMPROVEMENTS: Final = 30
_CHOICES: Final = 400  # of those who move down together
_EXCHANGES: Final = 40  # of one for one, and as many of two for two


@dataclass(slots=True)
class Rules:
    """What a bracket has to know of everybody. Costs are sums of the constants above: criteria in their order."""

    may: Callable[[int, int], bool]
    cost: Callable[[int, int], int]
    float_cost: Callable[[int], int]
    seat: Sequence[int | None]  # which of the two seats one is due
    steps: int  # how many candidates are looked at within each bound
    grade: Callable[[int], int]  # rises with the score; of who moves down on, the lowest is best


@dataclass(slots=True)
class Bracket:
    """``moved`` were left over from higher brackets; ``residents`` are of this score; both by rank. ``accepts`` says
    whether those who would move down leave a pairing for everybody below; in the last, whether they may rest."""

    rules: Rules
    moved: list[int]
    residents: list[int]
    accepts: Callable[[Sequence[int]], bool]
    wasted: Callable[[Sequence[int]], int]  # how many more of the next bracket could be paired if nobody had to rest
    last: bool
    _left: int = field(default=0)
    _budget: int = field(default=0)  # for all bounds together

    def pairs(self) -> tuple[list[tuple[int, int]], list[int]] | None:
        """Pairs and who moves down; None where no acceptable way was found within the steps allowed.

        Looked for is the first way, in the order of transpositions and exchanges, that costs least. It is found by
        raising what it may cost, so that what is ideal is found at once, and large brackets without going back.
        """
        ideal = self._ideal()
        self._budget = _BUDGET * self.rules.steps
        for bound in [*(ideal + slack for slack in _SLACKS), _WITHOUT_LIMIT]:
            found = self._attempt(bound)
            if found is not None:
                found = self._search_cheaper(found, ideal)
                return found[1], found[2]
        return None

    def _search_cheaper(self, found: Way, ideal: int) -> Way:
        """The cheapest way that can be found from one on: first with the same moving down but all else ideal."""
        moving_down = found[0] // NEXT * NEXT
        for slack in _SLACKS[:4]:
            if ideal < moving_down + slack < found[0] and (better := self._attempt(moving_down + slack)) is not None:
                found = better
                break
        for _ in range(_IMPROVEMENTS):
            if found[0] <= ideal or self._budget <= 0 or (better := self._attempt(found[0] - 1)) is None:
                break
            found = better
        return found

    def _ideal(self) -> int:
        """A cost below which no way can be: how many pairs must be due the same seat."""
        people = [*self.moved, *self.residents]
        dues = [self.rules.seat[one] for one in people]
        odd = len(people) % 2
        spare = dues.count(None) + odd
        return odd * (DOWN + FLOAT) + COLOUR * max(0, (abs(dues.count(0) - dues.count(1)) - spare + 1) // 2)

    def _moves_on(self, one: int) -> int:
        """What it costs if one of those moved down moves on: the more, the higher its score among them."""
        scores = sorted({self.rules.grade(other) for other in self.moved})
        grade = min(GRADES, 1 + scores.index(self.rules.grade(one)))
        return DOWN + (FLOAT << DIGIT * grade) + self.rules.float_cost(one)

    def _attempt(self, bound: int) -> Way | None:
        """The first way found that costs at most ``bound``."""
        self._left = self.rules.steps + len(self.moved) + len(self.residents)
        if not self.moved:
            return self._homogeneous(self.residents, 0, bound)
        may_rest = not self.last or (len(self.moved) + len(self.residents)) % 2 == 1
        ways = self._transpositions(self.moved, self.residents, 0, bound, floating=may_rest)
        for cost, pairs, rest in islice(ways, _WAYS if len(self.residents) <= _FEW else 2):
            floating = [one for one, other in pairs if other == FREE]
            found = self._homogeneous(rest, cost, bound, floating)
            if found is not None:
                return found[0], [pair for pair in pairs if pair[1] != FREE] + found[1], found[2]
            self._left = self.rules.steps // 4
        return None

    def _homogeneous(self, people: list[int], spent: int, bound: int, floating: Sequence[int] = ()) -> Way | None:
        """The upper half against the lower: transpositions of the lower, then exchanges between both."""
        for floats in range(len(people) % 2, 2 if self.last else len(people) + 1, 2):
            cost = spent + floats * (DOWN + FLOAT)
            if cost > bound:
                return None
            found = self._pair_with_shared_floats(people, floats, cost, bound, floating)
            if found is None and floats > 1 and len(people) <= _FEW:
                found = self._pair_with_preset_floats(people, floats, cost, bound, floating)
            if found is not None:
                return found
        return None

    def _pair_with_shared_floats(
        self, people: list[int], floats: int, spent: int, bound: int, floating: Sequence[int]
    ) -> Way | None:
        """With those moving down whom the transpositions leave over."""
        for upper, lower in _halves(people, (len(people) - floats) // 2):
            for cost, pairs, rest in self._transpositions(upper, lower, spent, bound, floating=False):
                down = [*floating, *rest]
                total = self._total(cost, rest, down, bound)
                if total <= bound and self.accepts(down):
                    return total, pairs, down
            self._left -= len(people) // 8  # to lay the halves out takes time too
            self._budget -= len(people) // 8
            if self._left <= 0 or self._budget <= 0:
                return None
        return None

    def _pair_with_preset_floats(
        self, people: list[int], floats: int, spent: int, bound: int, floating: Sequence[int]
    ) -> Way | None:
        """With those moving down chosen beforehand, the lowest first: where many must, few choices are accepted."""
        for rest in islice(combinations(reversed(people), floats), _CHOICES):
            down = [*floating, *reversed(rest)]
            total = self._total(spent, rest, down, bound)
            if total > bound or not self.accepts(down):
                continue
            self._left = max(self._left, self.rules.steps // 4)
            staying = [one for one in people if one not in rest]
            for upper, lower in _halves(staying, len(staying) // 2):
                for cost, pairs, _ in self._transpositions(upper, lower, total, bound, floating=False):
                    return cost, pairs, down
                self._budget -= len(people) // 8
                if self._left <= 0 or self._budget <= 0:
                    break
            if self._budget <= 0:
                return None
        return None

    def _total(self, cost: int, rest: Sequence[int], down: Sequence[int], bound: int) -> int:
        """``cost`` with what it costs that these move down."""
        total = cost + sum(map(self.rules.float_cost, rest))
        return total if self.last or total > bound else total + NEXT * self.wasted(down)

    def _transpositions(
        self, upper: Sequence[int], lower: Sequence[int], spent: int, bound: int, *, floating: bool
    ) -> Iterator[Way]:
        """Ways to give each of ``upper`` one of ``lower``, in the order of who gets whom: cost, pairs, who is left.

        Goes back as soon as the cost, with the pairs that must be due the same seat among the rest, is beyond the
        bound. With ``floating`` one of ``upper`` may also move down.
        """
        free = list(lower)
        tally = _Tally(self.rules.seat, upper, lower)
        chosen: list[tuple[int, int, int]] = []  # index among the free, who, cost before
        cost, at = spent, 0
        while True:
            if len(chosen) == len(upper):
                yield cost, [(one, other) for one, (_, other, _) in zip(upper, chosen, strict=True)], free[:]
            elif (room := bound - cost) >= COLOUR * tally.min_unmet_preferences():
                one = upper[len(chosen)]
                choice = self._choice(one, free, at, room, floating=floating)
                if choice is not None:
                    place, price = choice
                    other = free.pop(place) if place < len(free) else FREE
                    chosen.append((place, other, cost))
                    tally.take(one, other)
                    cost, at = cost + price, 0
                    continue
            if not chosen or self._left <= 0 or self._budget <= 0:
                return
            place, other, cost = chosen.pop()
            tally.give_back(upper[len(chosen)], other)
            if other != FREE:
                free.insert(place, other)
            at = place + 1

    def _choice(self, one: int, free: Sequence[int], at: int, room: int, *, floating: bool) -> tuple[int, int] | None:
        """The index, from ``at`` on, of the first of the free whom one can be given for ``room``, and what that costs;
        behind the last of them to move down."""
        may, cost = self.rules.may, self.rules.cost
        for place in range(at, len(free)):
            self._left -= 1
            self._budget -= 1
            other = free[place]
            if may(one, other) and (price := cost(one, other)) <= room:
                return place, price
        if floating and at <= len(free) and (price := self._moves_on(one)) <= room:
            return len(free), price
        return None


class _Tally:
    """How many of both halves are still to be paired, by the seat they are due."""

    __slots__ = ("lower", "seat", "upper")

    def __init__(self, seat: Sequence[int | None], upper: Sequence[int], lower: Sequence[int]) -> None:
        self.seat = seat
        self.upper, self.lower = [0, 0, 0], [0, 0, 0]
        for people, count in ((upper, self.upper), (lower, self.lower)):
            for one in people:
                count[self._due(one)] += 1

    def _due(self, one: int) -> int:
        due = self.seat[one]
        return 2 if due is None else due

    def take(self, one: int, other: int) -> None:
        self.upper[self._due(one)] -= 1
        if other != FREE:
            self.lower[self._due(other)] -= 1

    def give_back(self, one: int, other: int) -> None:
        self.upper[self._due(one)] += 1
        if other != FREE:
            self.lower[self._due(other)] += 1

    def min_unmet_preferences(self) -> int:
        """At least so many of the upper half will meet somebody due the same seat."""
        upper, lower = self.upper, self.lower
        return max(0, upper[0] - lower[1] - lower[2]) + max(0, upper[1] - lower[0] - lower[2])


def _halves(people: Sequence[int], pairs: int) -> Iterator[tuple[list[int], list[int]]]:
    """The upper ``pairs`` people and the rest; then with one exchanged for one, then two for two, the nearest first."""
    upper, lower = list(people[:pairs]), list(people[pairs:])
    yield upper, lower
    reach = 8  # exchanges are between those next to the border, so that the best stay in the upper half
    for many in (1, 2):
        ups = list(combinations(range(max(0, pairs - reach), pairs), many))
        downs = list(combinations(range(pairs, min(len(people), pairs + reach)), many))
        ways = sorted((sum(down) - sum(up), [-place for place in reversed(up)], down) for up in ups for down in downs)
        for _, up, down in islice(ways, _EXCHANGES):
            gone = {-place for place in up}
            staying = [people[place] for place in range(pairs) if place not in gone]
            rest = [people[place] for place in range(pairs, len(people)) if place not in down]
            yield [*staying, *(people[place] for place in down)], [*(people[place] for place in sorted(gone)), *rest]
