"""Write numbers and months for people."""

import calendar
from datetime import date
from typing import Final

MINUS: Final = "\N{MINUS SIGN}"
THIN_SPACE: Final = "\N{NARROW NO-BREAK SPACE}"
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


def count(number: int) -> str:
    """Return a whole number with its thousands separated."""
    return f"{number:,}".replace(",", THIN_SPACE).replace("-", MINUS)


def decimal(number: float, digits: int = 1) -> str:
    return f"{number:,.{digits}f}".replace(",", THIN_SPACE).replace("-", MINUS)


def ordinal(number: int) -> str:
    """Return a number as a rank: ``1st``, ``22nd``, ``113th``."""
    ending = "th" if number % 100 in (11, 12, 13) else _ENDINGS.get(number % 10, "th")
    return f"{count(number)}{ending}"


def month_name(month: date) -> str:
    """Return a month in words: ``November 2026``."""
    return f"{calendar.month_name[month.month]} {month.year}"
