"""Cache results of long computations in this process, under a key, until the database has changed.

Expensive results are recomputed so rarely that this takes a small share of the time. Meanwhile, requests get the
previous result, which names the last database entry that it covers.
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

EXPENSIVE_S: Final = 0.25
REST_FACTOR: Final = 10  # an expensive result is reused for this many times its computing time


class Compute(Protocol[Made]):
    """Return the value to cache, or ``before`` itself if nothing has changed.

    With ``patient``, do not recompute the value merely because there are new results.
    """

    def __call__(self, before: Made | None, *, patient: bool) -> Made: ...


class CacheEntry(Generic[Made]):
    """Hold a cached value, and parts computed from it on first use."""

    def __init__(self, made: Made, clock: Clock, spent_s: float) -> None:
        self.made = made
        self._clock, self._since, self._spent_s = clock, clock(), spent_s
        self._parts: dict[str, Any] = {}
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def part(self, name: str, work: Callable[[], Part]) -> Part:
        """Return the part with this name, which ``work`` computes on first use."""
        with self._locks[name]:
            if name not in self._parts:
                began = self._clock()
                self._parts[name] = work()
                self._spent_s += self._clock() - began
            return cast(Part, self._parts[name])

    @property
    def is_expensive(self) -> bool:
        return self._spent_s > EXPENSIVE_S

    @property
    def is_fresh(self) -> bool:
        """Return whether the value is too expensive and too recent to be computed again."""
        return self.is_expensive and self._clock() < self._since + REST_FACTOR * self._spent_s


@dataclass
class _Slot(Generic[Made]):
    lock: threading.Lock = field(default_factory=threading.Lock)
    kept: CacheEntry[Made] | None = None
    weight: int = 0


class Cache(Generic[Made]):
    """Cache the values used last, up to a total weight of ``most``. Keep the newest value whatever its weight."""

    def __init__(self, most: int, weight: Callable[[Made], int], *, clock: Clock = time.monotonic) -> None:
        self._most, self._weight, self._clock = most, weight, clock
        self._slots: OrderedDict[str, _Slot[Made]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, make: Compute[Made]) -> CacheEntry[Made]:
        """Return the entry of ``key``, brought up to date with the database.

        Only one of several concurrent callers computes it; the others wait, or get the previous entry if it is
        expensive. Raise what ``make`` raises.
        """
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
        before = slot.kept
        if not slot.lock.acquire(blocking=before is None or not before.is_expensive):
            return cast(CacheEntry[Made], before)
        try:
            slot.kept = self._rebuild(slot.kept, make)
            return slot.kept
        finally:
            slot.lock.release()
            self._tidy(key, slot)

    def _rebuild(self, before: CacheEntry[Made] | None, make: Compute[Made]) -> CacheEntry[Made]:
        began = self._clock()
        made = make(before.made if before else None, patient=before is not None and before.is_fresh)
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
            while len(self._slots) > 1 and sum(cached.weight for cached in self._slots.values()) > self._most:
                self._slots.popitem(last=False)


class RecentCache(Generic[Made]):
    """Cache the ``most`` values used last. Concurrent callers may compute a value twice, but all get the same one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[str, Made] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, make: Callable[[], Made]) -> Made:
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        made = make()
        with self._lock:
            made = self._made.setdefault(key, made)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return made
