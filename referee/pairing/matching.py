"""Find maximum matchings: as many pairs as possible of players who may meet, all pairs being equally good."""

from collections import deque
from collections.abc import Callable, Sequence

MayMeet = Callable[[int, int], bool]


def augment_matching(
    people: Sequence[int], may_meet: MayMeet, mate: dict[int, int], *, most: int | None = None
) -> dict[int, int]:
    """Return a maximum matching of ``people``, grown from the matching ``mate``.

    Both store each pair in both directions. Everyone paired in ``mate`` stays paired, perhaps with another partner. The
    algorithm flips augmenting paths over contracted odd cycles (J. Edmonds, Paths, trees, and flowers, 1965) until none
    is left; the matching is then maximum. People are tried in order, so neighbours in that order tend to be paired.
    With ``most``, stop as soon as more than this number must stay unpaired; the result is then not maximum.
    """
    matched = dict(mate)
    free = [player for player in people if player not in matched]
    while free:
        root = free.pop(0)
        partner = next((index for index, other in enumerate(free) if may_meet(root, other)), None)
        if partner is not None:
            other = free.pop(partner)
            matched[root], matched[other] = other, root
    searched, failed = list(people), 0
    for root in people:
        if root in matched:
            continue
        search = _TreeSearch(searched, may_meet, matched)
        if not search.augment(root):
            failed += 1
            if most is not None and failed > most:
                break
            # No augmenting path can pass through a tree in which none was found, so the players of such a tree are
            # skipped.
            searched = [player for player in searched if player not in search.outer and player not in search.parent]
    return matched


class _TreeSearch:
    """Grow one tree of alternating paths from an unpaired root."""

    def __init__(self, people: Sequence[int], may_meet: MayMeet, matched: dict[int, int]) -> None:
        self.people, self.may_meet, self.matched = people, may_meet, matched
        self.parent: dict[int, int] = {}
        self.base = {player: player for player in people}
        self.outer: set[int] = set()
        self.queue: deque[int] = deque()

    def augment(self, root: int) -> bool:
        """Pair ``root`` by flipping an augmenting path. Return whether there was one."""
        self.outer.add(root)
        self.queue.append(root)
        while self.queue:
            player = self.queue.popleft()
            for other in self.people:
                if (
                    self.base[player] == self.base[other]
                    or self.matched.get(player) == other
                    or not self.may_meet(player, other)
                ):
                    continue
                if other == root or self.parent.get(self.matched.get(other, other)) is not None:
                    self._contract(player, other)
                elif other not in self.parent:
                    self.parent[other] = player
                    if other not in self.matched:
                        self._flip(other)
                        return True
                    self._reach(self.matched[other])
        return False

    def _reach(self, player: int) -> None:
        if player not in self.outer:
            self.outer.add(player)
            self.queue.append(player)

    def _flip(self, end: int) -> None:
        player: int | None = end
        while player is not None:
            before = self.parent[player]
            further = self.matched.get(before)
            self.matched[player], self.matched[before] = before, player
            player = further

    def _contract(self, player: int, other: int) -> None:
        """Contract the odd cycle closed by an edge between two outer vertices into a single vertex."""
        stem = self._find_common_base(player, other)
        cycle: set[int] = set()
        self._mark_cycle(player, stem, other, cycle)
        self._mark_cycle(other, stem, player, cycle)
        for member in self.people:
            if self.base[member] in cycle:
                self.base[member] = stem
                self._reach(member)

    def _find_common_base(self, player: int, other: int) -> int:
        above: set[int] = set()
        base = player
        while True:
            base = self.base[base]
            above.add(base)
            if base not in self.matched or self.matched[base] not in self.parent:
                break
            base = self.parent[self.matched[base]]
        base = self.base[other]
        while base not in above:
            base = self.base[self.parent[self.matched[base]]]
        return base

    def _mark_cycle(self, player: int, stem: int, child: int, cycle: set[int]) -> None:
        while self.base[player] != stem:
            mate = self.matched[player]
            cycle |= {self.base[player], self.base[mate]}
            self.parent[player] = child
            child = mate
            player = self.parent[mate]
