"""Compute the scales of charts, and ticks at round values."""

from dataclasses import dataclass
from itertools import count, takewhile
from math import ceil, floor, log10
from typing import Final

ROUND: Final = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """Map values from ``low`` to ``high`` linearly to coordinates from ``begin`` to ``end``, which may be reversed."""

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, figure: float) -> float:
        if self.high == self.low:
            return (self.begin + self.end) / 2
        return self.begin + (figure - self.low) / (self.high - self.low) * (self.end - self.begin)


def step(low: float, high: float, most: int = 5) -> float:
    """Return the smallest of …, 0.1, 0.2, 0.5, 1, 2, 5, … that divides the range into at most ``most`` pieces."""
    rough = (high - low) / most
    if rough <= 0:
        return 1.0
    unit = 10.0 ** floor(log10(rough))
    return next(unit * factor for factor in ROUND if unit * factor >= rough * (1 - 1e-9))


def ticks(low: float, high: float, most: int = 5, *, whole: bool = False) -> list[float]:
    """Return the round values within the range, at most ``most + 1``. With ``whole``, return only integers."""
    apart = step(low, high, most)
    if whole:
        apart = max(1.0, apart)
    first = ceil(low / apart - 1e-9)
    return list(takewhile(lambda figure: figure <= high + apart * 1e-9, (apart * number for number in count(first))))


def round_outwards(low: float, high: float, most: int = 5, *, least: float = 0.0) -> tuple[float, float]:
    """Return the range, at least ``least`` wide, extended to round values at both ends."""
    if high - low < least:
        middle = (low + high) / 2
        low, high = middle - least / 2, middle + least / 2
    apart = step(low, high, most)
    return floor(low / apart + 1e-9) * apart, ceil(high / apart - 1e-9) * apart
