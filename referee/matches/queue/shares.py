"""Share places among matches: the slots of a runner and the concurrent requests of a bot.

Each match belongs to a lane: its kind and the account that arranged it. A rule names which matches are counted
together and which part of the places they may use. To limit something else, yield another rule.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from referee.matches.states import MatchKind

FRIENDLIES_PART: Final = 2  # all friendlies together use at most one in this many places
ACCOUNT_PART: Final = 4  # the friendlies of one account use at most one in this many
RESERVED_PART: Final = 4  # one in this many slots of a runner is for lanes that use none of its slots


class Lane(NamedTuple):
    """Represent a kind of matches and the account that arranged them, or "" if none did."""

    kind: MatchKind
    account: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.account}"


class Share(NamedTuple):
    """Represent a rule: the matches counted under ``key`` use at most one in ``part`` places, but at least one."""

    key: Hashable
    part: int


def parse_lane(text: str) -> Lane:
    kind, _, account = text.partition(":")
    return Lane(MatchKind(kind), account)


def slot_shares(lane: Lane) -> Iterator[Share]:
    """Yield the rules by which a match gets a slot of a runner: half of the slots are out of reach of friendlies."""
    if lane.kind == MatchKind.FRIENDLY:
        yield Share(lane.kind, FRIENDLIES_PART)
        if lane.account:
            yield Share(lane, ACCOUNT_PART)


def call_shares(owner_id: str) -> Callable[[Lane], Iterator[Share]]:
    """Return the rules by which a match gets the requests of a bot of this owner.

    Half of them are out of reach of friendlies, and the owner's own friendlies may use the other half. A bot that
    accepts a single request has nothing to divide: ``match_queue`` makes friendlies give way to other matches there.
    """

    def shares(lane: Lane) -> Iterator[Share]:
        if lane.kind == MatchKind.FRIENDLY:
            yield Share(lane.kind, FRIENDLIES_PART)
            if lane.account and lane.account != owner_id:
                yield Share(lane, ACCOUNT_PART)

    return shares


def create_slots(size: int) -> "Pool":
    """Return the slots of a runner.

    A lane that uses some of them leaves a quarter of all slots to lanes that use none. So however long the matches of
    an account take, the first match of another begins immediately, unless there are more accounts than reserved slots.
    """
    return Pool(size, slot_shares, reserved=size // RESERVED_PART)


def has_sure_slot(lane: Lane, playing: Iterable[tuple[Lane, int]], *, runners: int, size: int) -> bool:
    """Return whether one of ``runners`` with ``size`` slots each has a slot for a match of this lane in any case.

    Each runner applies its shares to its own matches only, and nobody knows which runner plays what. So assume that the
    matches in progress leave as few runners as possible a slot: first by their friendlies, then by all they play.
    """
    playing = list(playing)
    left = sum(count for _, count in playing)
    full = 0
    if lane.kind == MatchKind.FRIENDLY:
        share = max(1, size // FRIENDLIES_PART)
        full = sum(count for used, count in playing if used.kind == MatchKind.FRIENDLY) // share
        left -= full * share
    return full + left // (size - size // RESERVED_PART) < runners


@dataclass(slots=True)
class Pool:
    """Count the places in use among ``size`` places, in total, by lane and by the keys of ``shares``.

    The last ``reserved`` places are only for lanes that use none.
    """

    size: int
    shares: Callable[[Lane], Iterator[Share]]
    total: int = 0
    used: Counter[Hashable] = field(default_factory=Counter)
    reserved: int = 0
    by_lane: Counter[Lane] = field(default_factory=Counter)

    def limit(self, lane: Lane) -> int:
        """Return how many places matches of this lane get if nothing else is in progress."""
        return min([self.size - self.reserved, *(self._size_of(share) for share in self.shares(lane))])

    def count_free(self, lane: Lane) -> int:
        """Return how many more places matches of this lane may take. Negative if more are in use than they may."""
        rest = [self._size_of(share) - self.used[share.key] for share in self.shares(lane)]
        free = self.size - self.total
        usable = free - self.reserved if self.by_lane[lane] else min(free, max(1, free - self.reserved))
        return min([usable, *rest])

    def take(self, lane: Lane, places: int = 1) -> None:
        """Take places, or return them if ``places`` is negative."""
        self.total += places
        self.by_lane[lane] += places
        for share in self.shares(lane):
            self.used[share.key] += places

    def copy(self) -> "Pool":
        return Pool(self.size, self.shares, self.total, self.used.copy(), self.reserved, self.by_lane.copy())

    def _size_of(self, share: Share) -> int:
        return max(1, self.size // share.part)
