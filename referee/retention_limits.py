"""Say how long and how much of something the service keeps: a number of days, of MiB, or both. Reads no environment."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

MIB: Final = 1024 * 1024
MAX_DAYS: Final = 36_500
MAX_MIB: Final = 1_000_000_000
FOREVER_WORD: Final = "forever"
_PART: Final = re.compile(r"([0-9]{1,10}) ?(days?|MiB)")


@dataclass(frozen=True, slots=True)
class Keep:
    """Hold how long (``days``) and how much (``mib``) is kept. None: without a limit."""

    days: int | None = None
    mib: int | None = None

    @property
    def age(self) -> timedelta | None:
        """Return the age up to which something is kept, or None if it has no limit."""
        return None if self.days is None else timedelta(days=self.days)

    def __str__(self) -> str:
        parts = [] if self.days is None else [f"{self.days} {'day' if self.days == 1 else 'days'}"]
        parts += [] if self.mib is None else [f"{self.mib} MiB"]
        return ", ".join(parts) or FOREVER_WORD


FOREVER: Final = Keep()
DAYS_30: Final = Keep(days=30)
DAYS_90: Final = Keep(days=90)


def parse_keep(text: str, *, min_days: int) -> Keep:
    """Return the limits in a text like ``forever``, ``90 days``, ``2000 MiB`` or ``90 days, 2000 MiB``.

    Raise ``ValueError`` with a sentence for any other text, and for fewer days than ``min_days``.
    """
    if text.strip() == FOREVER_WORD:
        return FOREVER
    found: dict[str, int] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        unit = match[2].rstrip("s") if match else ""
        if match is None or unit in found:
            raise ValueError(
                f"{text!r} does not say what to keep; expected {FOREVER_WORD}, days, MiB or both, like "
                "90 days, 2000 MiB."
            )
        found[unit] = int(match[1])
    days, mib = found.get("day"), found.get("MiB")
    if days is not None and not min_days <= days <= MAX_DAYS:
        expected = f"{min_days} to {MAX_DAYS} days, or {FOREVER_WORD}"
        raise ValueError(f"{days} days is not possible here; expected {expected}.")
    if mib is not None and not 1 <= mib <= MAX_MIB:
        raise ValueError(f"{mib} MiB is not possible here; expected 1 to {MAX_MIB} MiB, or {FOREVER_WORD}.")
    return Keep(days, mib)
