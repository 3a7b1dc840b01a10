"""Derive the emblem of a bot, a small pattern, from its id alone. Pages and pictures draw it in their own ways."""

from functools import lru_cache
from typing import Final

SIZE: Final = 5  # cells in a row and in a column
HUES: Final = (0, 28, 48, 80, 120, 155, 180, 205, 230, 262, 290, 325)  # in degrees, as in site.css
_HALF: Final = (SIZE + 1) // 2  # columns that the id determines; the others mirror them
_CELLS: Final = SIZE * _HALF
_MIN_FILLED: Final = 5  # of these cells; a sparser pattern is inverted
_MASK: Final = 0xFFFFFFFF


@lru_cache(maxsize=4_096)
def emblem_pattern(bot_id: str) -> tuple[str, int]:
    """Return the path of the pattern in a square of ``SIZE`` units, for SVG, and the index of its hue in ``HUES``."""
    number = _mix(bot_id)
    cells = number & (1 << _CELLS) - 1
    if cells.bit_count() < _MIN_FILLED:
        cells ^= (1 << _CELLS) - 1
    path = "".join(
        f"M{x} {y}h1v1h-1z" for y in range(SIZE) for x in range(SIZE) if cells >> (y * _HALF + min(x, SIZE - 1 - x)) & 1
    )
    return path, (number >> _CELLS) % len(HUES)


def _mix(bot_id: str) -> int:
    """Return 32 bits of the id: FNV-1a, then the last step of MurmurHash3, so that similar ids differ in all bits."""
    number = 0x811C9DC5
    for sign in bot_id.encode():
        number = (number ^ sign) * 0x01000193 & _MASK
    number = (number ^ number >> 16) * 0x85EBCA6B & _MASK
    number = (number ^ number >> 13) * 0xC2B2AE35 & _MASK
    return number ^ number >> 16
