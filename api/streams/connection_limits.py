"""Limit concurrent streams and downloads, in total and for each client address."""

import threading
from collections import Counter
from collections.abc import Callable

from api.errors import Problem


class ConnectionLimit:
    """Allow ``most`` concurrent connections, at most ``most_each`` of them from one address. Thread-safe.

    ``kind`` names the connections in error messages.
    """

    def __init__(self, kind: str, most: int, most_each: int, retry_after_s: int) -> None:
        self._kind, self._most, self._most_each, self._retry_after_s = kind, most, most_each, retry_after_s
        self._in_use: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def in_use(self) -> int:
        return self._in_use.total()

    def acquire(self, address: str) -> Callable[[], bool]:
        """Count a connection from ``address`` and return the function that releases it.

        The returned function returns True on the first call; further calls do nothing and return False. Raise a 503
        ``Problem`` with Retry-After when the limit is reached.
        """
        with self._lock:
            if self._in_use[address] >= self._most_each:
                raise self._refusal(f"At most {self._most_each} concurrent {self._kind} are allowed from one address")
            if self._in_use.total() >= self._most:
                raise self._refusal(f"At most {self._most} concurrent {self._kind} are allowed")
            self._in_use[address] += 1
        released = False

        def release() -> bool:
            nonlocal released
            with self._lock:
                if released:
                    return False
                released = True
                self._in_use[address] -= 1
                if not self._in_use[address]:
                    del self._in_use[address]
            return True

        return release

    def _refusal(self, reason: str) -> Problem:
        headers = {"Retry-After": str(self._retry_after_s)}
        return Problem(503, "unavailable", f"{reason}. Try again in {self._retry_after_s} s.", headers=headers)
