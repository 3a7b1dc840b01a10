"""Sign calls with the time of a bot's clock if it refuses ours.

A bot refuses a signature (401) whose time differs too much from its own clock. Its ``Date`` header tells that clock, so
the call is signed once more with that time. If the difference was the reason, the bot answers, whichever of the two
clocks is wrong, and nobody has to be believed. A false ``Date`` gains nothing: the refusal remains a fault, and the
time that was signed is one for which the bot, which knows the secret, could have made the signature itself.
"""

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Final

REFUSED: Final = 401  # the status of a response that refuses a signature
TOLERATED_S: Final = 30.0  # a smaller difference is not why a bot refuses a signature


class BotClock:
    """Tell the time with which calls to one bot are signed: ours, plus ``ahead_s`` if ``follow`` is set."""

    def __init__(self, now: Callable[[], float], *, follow: bool) -> None:
        self.ahead_s = 0.0
        self._now = now
        self._follow = follow

    def get_time_s(self) -> float:
        """Return the time for the next signature, in seconds since 1970."""
        return self._now() + self.ahead_s

    def adjust(self, date: str, *, is_last_attempt: bool) -> bool:
        """Adjust to the ``Date`` of a refusal. Return whether its call should be signed again.

        Return to our time if the bot refuses a call for another reason.
        """
        theirs_s = _parse_date(date) if self._follow and not is_last_attempt else None
        if theirs_s is None or abs(theirs_s - self.get_time_s()) <= TOLERATED_S:
            self.ahead_s = 0.0
            return False
        self.ahead_s = theirs_s - self._now()
        return True


def _parse_date(text: str) -> float | None:
    """Return an HTTP date in seconds since 1970, or None if it is missing or invalid."""
    try:
        return max(parsedate_to_datetime(text).timestamp(), 0.0) if text else None
    except (ValueError, OverflowError):
        return None
