"""Largest matchings: as many pairs as can be made of those who may meet. Which of them is best is not asked here."""

from collections import deque
from collections.abc import Callable, Sequence

May = Callable[[int, int], bool]


def augment_matching(
    people: Sequence[int], may: May, mate: dict[int, int], *, most: int | None = None
) -> dict[int, int]:
    """A largest matching of ``people`` under ``may``, grown from ``mate`` (who may already be paired, both ways).

    Whoever is paired stays so, if with another. Augmenting paths over contracted odd cycles (J. Edmonds, Paths,
    trees, and flowers, 1965): as long as there is one the matching is not the largest, and when there is none it is.
    ``people`` are tried in their order, so that those who are near in it tend to be paired. With ``most`` the search
    ends, before the matching is the largest, as soon as more than so many must be left over.
    """
    matched = dict(mate)
    free = [one for one in people if one not in matched]
    while free:
        root = free.pop(0)
        partner = next((at for at, other in enumerate(free) if may(root, other)), None)
        if partner is not None:
            other = free.pop(partner)
            matched[root], matched[other] = other, root
    open_to_all, failed = list(people), 0
    for root in people:
        if root in matched:
            continue
        search = _Search(open_to_all, may, matched)
        if not search.augment(root):
            failed += 1
            if most is not None and failed > most:
                break
            # No path will ever lead through a tree that found none.
            open_to_all = [one for one in open_to_all if one not in search.outer and one not in search.parent]
    return matched


class _Search:
    """One tree of alternating paths from a root that is not paired."""

    def __init__(self, people: Sequence[int], may: May, matched: dict[int, int]) -> None:
        self.people, self.may, self.matched = people, may, matched
        self.parent: dict[int, int] = {}
        self.base = {one: one for one in people}
        self.outer: set[int] = set()
        self.queue: deque[int] = deque()

    def augment(self, root: int) -> bool:
        self.outer.add(root)
        self.queue.append(root)
        while self.queue:
            one = self.queue.popleft()
            for other in self.people:
                if self.base[one] == self.base[other] or self.matched.get(one) == other or not self.may(one, other):
                    continue
                if other == root or self.parent.get(self.matched.get(other, other)) is not None:
                    self._contract(one, other)
                elif other not in self.parent:
                    self.parent[other] = one
                    if other not in self.matched:
                        self._flip(other)
                        return True
                    self._reach(self.matched[other])
        return False

    def _reach(self, one: int) -> None:
        if one not in self.outer:
            self.outer.add(one)
            self.queue.append(one)

    def _flip(self, end: int) -> None:
        at: int | None = end
        while at is not None:
            before = self.parent[at]
            further = self.matched.get(before)
            self.matched[at], self.matched[before] = before, at
            at = further

    def _contract(self, one: int, other: int) -> None:
        """Makes one vertex of the odd cycle that the edge between two outer ones closes."""
        stem = self._meeting(one, other)
        cycle: set[int] = set()
        self._mark(one, stem, other, cycle)
        self._mark(other, stem, one, cycle)
        for who in self.people:
            if self.base[who] in cycle:
                self.base[who] = stem
                self._reach(who)

    def _meeting(self, one: int, other: int) -> int:
        above: set[int] = set()
        at = one
        while True:
            at = self.base[at]
            above.add(at)
            if at not in self.matched or self.matched[at] not in self.parent:
                break
            at = self.parent[self.matched[at]]
        at = self.base[other]
        while at not in above:
            at = self.base[self.parent[self.matched[at]]]
        return at

    def _mark(self, one: int, stem: int, child: int, cycle: set[int]) -> None:
        while self.base[one] != stem:
            mate = self.matched[one]
            cycle |= {self.base[one], self.base[mate]}
            self.parent[one] = child
            child = mate
            one = self.parent[mate]
