"""Results of long computations, kept in this process: one for each key, made anew when the record has moved on.

What is dear is made anew no more often than that it takes a small share of the time; whoever asks meanwhile gets the
one before, which tells as of when it is.
"""

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar, cast

Made = TypeVar("Made")
Part = TypeVar("Part")
Clock = Callable[[], float]

DEAR_S: Final = 0.25
RESTS: Final = 10  # times as long as it took, what is dear is left as it is


class Making(Protocol[Made]):
    """Gives what is to be kept, the one ``before`` itself where nothing has changed. ``patient``: new results alone
    are no reason to make another."""

    def __call__(self, before: Made | None, *, patient: bool) -> Made: ...


class CacheEntry(Generic[Made]):
    """Something made, and parts computed from it when they are first asked for."""

    def __init__(self, made: Made, clock: Clock, spent_s: float) -> None:
        self.made = made
        self._clock, self._since, self._spent_s = clock, clock(), spent_s
        self._parts: dict[str, Any] = {}
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def part(self, name: str, work: Callable[[], Part]) -> Part:
        """What ``work`` gave when the part was first asked for."""
        with self._locks[name]:
            if name not in self._parts:
                began = self._clock()
                self._parts[name] = work()
                self._spent_s += self._clock() - began
            return cast(Part, self._parts[name])

    def known(self, name: str) -> Any:
        """The part, if it was computed; else None."""
        return self._parts.get(name)

    @property
    def is_dear(self) -> bool:
        return self._spent_s > DEAR_S

    @property
    def rests(self) -> bool:
        """Whether it is too dear and too new to be made again."""
        return self.is_dear and self._clock() < self._since + RESTS * self._spent_s


@dataclass
class _Slot(Generic[Made]):
    lock: threading.Lock = field(default_factory=threading.Lock)
    kept: CacheEntry[Made] | None = None
    weight: int = 0


class Shelf(Generic[Made]):
    """Keeps what was asked for last, up to ``most`` in weight, and the one asked for now however heavy it is."""

    def __init__(self, most: int, weight: Callable[[Made], int], *, clock: Clock = time.monotonic) -> None:
        self._most, self._weight, self._clock = most, weight, clock
        self._slots: OrderedDict[str, _Slot[Made]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, make: Making[Made]) -> CacheEntry[Made]:
        """The thing of this key, as the record has it now. Of several who ask at once one makes it; the others wait,
        or get the one before when it is dear. Raises what ``make`` raises."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
        before = slot.kept
        if not slot.lock.acquire(blocking=before is None or not before.is_dear):
            return cast(CacheEntry[Made], before)
        try:
            slot.kept = self._rebuild(slot.kept, make)
            return slot.kept
        finally:
            slot.lock.release()
            self._tidy(key, slot)

    def peek(self, key: str) -> CacheEntry[Made] | None:
        """What is kept under this key, however old; nothing is made."""
        with self._lock:
            slot = self._slots.get(key)
        return None if slot is None else slot.kept

    def _rebuild(self, before: CacheEntry[Made] | None, make: Making[Made]) -> CacheEntry[Made]:
        began = self._clock()
        made = make(before.made if before else None, patient=before is not None and before.rests)
        if before is not None and made is before.made:
            return before
        return CacheEntry(made, self._clock, self._clock() - began)

    def _tidy(self, key: str, slot: _Slot[Made]) -> None:
        with self._lock:
            if slot.kept is None:
                if self._slots.get(key) is slot:
                    del self._slots[key]
                return
            slot.weight = self._weight(slot.kept.made)
            while len(self._slots) > 1 and sum(one.weight for one in self._slots.values()) > self._most:
                self._slots.popitem(last=False)
