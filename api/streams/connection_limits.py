"""Places that are few: how many may be held at once, in all and by one address."""

import threading
from collections import Counter
from collections.abc import Callable

from api.errors import Problem


class Places:
    """So many ``most``, of them ``most_each`` for one address. Safe to share between threads."""

    def __init__(self, what: str, most: int, most_each: int, retry_after_s: int) -> None:
        self._what, self._most, self._most_each, self._retry_after_s = what, most, most_each, retry_after_s
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        return self._taken.total()

    def take(self, address: str) -> Callable[[], bool]:
        """A place, and the way to give it back, which tells whether it was gone for the first time; 503 with
        Retry-After when none is free."""
        with self._lock:
            if self._taken[address] >= self._most_each:
                raise self._refusal(f"At most {self._most_each} {self._what} at once from one address")
            if self._taken.total() >= self._most:
                raise self._refusal(f"At most {self._most} {self._what} at once")
            self._taken[address] += 1
        given_back = False

        def give_back() -> bool:
            nonlocal given_back
            with self._lock:
                if given_back:
                    return False
                given_back = True
                self._taken[address] -= 1
                if not self._taken[address]:
                    del self._taken[address]
            return True

        return give_back

    def _refusal(self, reason: str) -> Problem:
        headers = {"Retry-After": str(self._retry_after_s)}
        return Problem(503, "unavailable", f"{reason}; try again later.", headers=headers)
