"""One bracket of a Dutch Swiss pairing: those of one score and those moved down to them. Which brackets there are,
and what happens to who stays unpaired, is not decided here."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Final

FREE: Final = -1  # stands for "nobody": who is paired with it moves down
DIGIT: Final = 14  # bits a criterion may count to: no bracket has more pairs
UP_BEFORE, DOWN_BEFORE, UP_LAST, DOWN_LAST, STRONG, COLOUR, FLOAT, MOVED_FLOAT, SIBLING = (
    1 << DIGIT * place for place in range(9)
)
_WITHOUT_LIMIT: Final = SIBLING << DIGIT
_EXCHANGES: Final = 40  # of one for one, and as many of two for two


@dataclass(slots=True)
class Rules:
    """What a bracket has to know of everybody. Costs are sums of the constants above: criteria in their order."""

    may: Callable[[int, int], bool]
    cost: Callable[[int, int], int]
    float_cost: Callable[[int], int]
    seat: Sequence[int | None]  # which of the two seats one is due
    steps: int  # how many candidates are looked at for each bound and member


@dataclass(slots=True)
class Bracket:
    """``moved`` were left over from higher brackets; ``residents`` are of this score; both by rank. ``accepts`` says
    whether those who would move down leave a pairing for everybody below."""

    rules: Rules
    moved: list[int]
    residents: list[int]
    accepts: Callable[[Sequence[int]], bool]
    last: bool
    _left: int = field(default=0)

    def pairs(self) -> tuple[list[tuple[int, int]], list[int]] | None:
        """Pairs and who moves down; None where no acceptable way was found within the steps allowed.

        Looked for is the first way, in the order of transpositions and exchanges, that costs least. It is found by
        raising what it may cost, so that what is ideal is found at once, and large brackets without going back.
        """
        ideal = self._ideal()
        bounds = [ideal, ideal + STRONG - 1, ideal + COLOUR - 1, ideal + 2 * COLOUR - 1, ideal + 4 * COLOUR - 1]
        for bound in [*bounds, _WITHOUT_LIMIT]:
            best = None
            while (found := self._attempt(bound)) is not None:
                best = found
                bound = found[0] - 1  # within what was found, look for less
                if bound < ideal:
                    break
            if best is not None:
                return best[1], best[2]
        return None

    def _ideal(self) -> int:
        """A cost below which no way can be: how many pairs must be due the same seat."""
        people = [*self.moved, *self.residents]
        dues = [self.rules.seat[one] for one in people]
        spare = dues.count(None) + len(people) % 2
        return COLOUR * max(0, (abs(dues.count(0) - dues.count(1)) - spare + 1) // 2)

    def _attempt(self, bound: int) -> tuple[int, list[tuple[int, int]], list[int]] | None:
        """The first way found that costs at most ``bound``."""
        self._left = self.rules.steps * (len(self.moved) + len(self.residents) + 10)
        if not self.moved:
            return self._homogeneous(self.residents, 0, bound)
        for cost, pairs, rest in self._transpositions(self.moved, self.residents, 0, bound, floating=not self.last):
            floating = [one for one, other in pairs if other == FREE]
            found = self._homogeneous(rest, cost, bound, floating)
            if found is not None:
                return found[0], [pair for pair in pairs if pair[1] != FREE] + found[1], found[2]
        return None

    def _homogeneous(
        self, people: list[int], spent: int, bound: int, floating: Sequence[int] = ()
    ) -> tuple[int, list[tuple[int, int]], list[int]] | None:
        """The upper half against the lower: transpositions of the lower, then exchanges between both."""
        for floats in range(len(people) % 2, 1 if self.last else len(people) + 1, 2):
            cost = spent + FLOAT * (floats - len(people) % 2)
            if cost > bound:
                return None
            for upper, lower in _halves(people, (len(people) - floats) // 2):
                for total, pairs, rest in self._transpositions(upper, lower, cost, bound, floating=False):
                    total += sum(map(self.rules.float_cost, rest))  # who floats is known only now
                    down = [*floating, *rest]
                    if total <= bound and (not down or self.accepts(down)):
                        return total, pairs, down
                if self._left <= 0:
                    break
        return None

    def _transpositions(
        self, upper: Sequence[int], lower: Sequence[int], spent: int, bound: int, *, floating: bool
    ) -> Iterator[tuple[int, list[tuple[int, int]], list[int]]]:
        """Ways to give each of ``upper`` one of ``lower``, in the order of who gets whom: cost, pairs, who is left.

        Goes back as soon as the cost, with the pairs that must be due the same seat among the rest, is beyond the
        bound. With ``floating`` one of ``upper`` may also move down.
        """
        may, cost_of, seat = self.rules.may, self.rules.cost, self.rules.seat
        free = list(lower)
        tally = _Tally(seat, upper, lower)
        chosen: list[tuple[int, int, int]] = []  # index among the free, who, cost so far
        cost, at = spent, 0
        while True:
            if len(chosen) == len(upper):
                yield cost, [(one, other) for one, (_, other, _) in zip(upper, chosen, strict=True)], free[:]
            elif cost + COLOUR * tally.unmet() <= bound:
                one = upper[len(chosen)]
                for place in range(at, len(free)):
                    self._left -= 1
                    other = free[place]
                    if may(one, other) and (price := cost + cost_of(one, other)) <= bound:
                        chosen.append((place, free.pop(place), cost))
                        tally.take(one, other)
                        cost, at = price, 0
                        break
                else:
                    if floating and at <= len(free) and cost + MOVED_FLOAT <= bound:
                        chosen.append((len(free), FREE, cost))
                        tally.take(one, FREE)
                        cost, at = cost + MOVED_FLOAT + self.rules.float_cost(one), 0
                    else:
                        at = -1
                if at == 0:
                    continue
            if not chosen or self._left <= 0:
                return
            place, other, cost = chosen.pop()
            tally.give_back(upper[len(chosen)], other)
            if other != FREE:
                free.insert(place, other)
            at = place + 1


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

    def unmet(self) -> int:
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
            out = {-place for place in up}
            yield (
                [*(one for place, one in enumerate(upper) if place not in out), *(people[place] for place in down)],
                sorted_like(
                    people,
                    [people[place] for place in out] + [one for one in lower if one not in {people[p] for p in down}],
                ),
            )


def sorted_like(people: Sequence[int], some: Sequence[int]) -> list[int]:
    """``some`` in the order in which ``people`` holds them."""
    wanted = set(some)
    return [one for one in people if one in wanted]
