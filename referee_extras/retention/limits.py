"""Say how long the service keeps something: a number of days, or forever. Reads no environment."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

MAX_DAYS: Final = 36_500
FOREVER_WORD: Final = "forever"
_DAYS: Final = re.compile(r"([0-9]{1,10}) ?days?")


@dataclass(frozen=True, slots=True)
class Keep:
    """Hold for how many ``days`` something is kept. None: forever."""

    days: int | None = None

    @property
    def age(self) -> timedelta | None:
        """Return the age up to which something is kept, or None if it has no limit."""
        return None if self.days is None else timedelta(days=self.days)

    def __str__(self) -> str:
        return FOREVER_WORD if self.days is None else f"{self.days} {'day' if self.days == 1 else 'days'}"


FOREVER: Final = Keep()
DAYS_30: Final = Keep(days=30)
DAYS_90: Final = Keep(days=90)


def parse_keep(text: str, *, min_days: int) -> Keep:
    """Return the limit in a text like ``forever`` or ``90 days``.

    Raise ``ValueError`` with a sentence for any other text, and for fewer days than ``min_days``.
    """
    if text.strip() == FOREVER_WORD:
        return FOREVER
    match = _DAYS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} does not say how long to keep; expected {FOREVER_WORD} or days, like 90 days.")
    days = int(match[1])
    if not min_days <= days <= MAX_DAYS:
        expected = f"{min_days} to {MAX_DAYS} days, or {FOREVER_WORD}"
        raise ValueError(f"{days} days is not possible here; expected {expected}.")
    return Keep(days)
