"""Draw the emblem of a bot, a small pattern that follows from its id alone. ``static/site/emblem.js`` draws the same.

An emblem is decorative: the name of the bot is always beside it.
"""

from functools import lru_cache
from typing import Final

from markupsafe import Markup

from api.pages.charts.svg import tag

SIZE: Final = 5  # cells in a row and in a column
HUES: Final = 12  # classes ``emblem-0`` to ``emblem-11`` in site.css
PLACED: Final = 15  # width and height in a drawing
_HALF: Final = (SIZE + 1) // 2  # columns that the id determines; the others mirror them
_CELLS: Final = SIZE * _HALF
_MIN_FILLED: Final = 5  # of these cells; a sparser pattern is inverted
_MASK: Final = 0xFFFFFFFF


@lru_cache(maxsize=4_096)
def emblem(bot_id: str, *, x: float = 0, y: float = 0) -> Markup:
    """Return the emblem of the bot as an SVG element, which screen readers skip: in a drawing, at this position."""
    number = _mix(bot_id)
    cells = number & (1 << _CELLS) - 1
    if cells.bit_count() < _MIN_FILLED:
        cells ^= (1 << _CELLS) - 1
    path = "".join(
        f"M{x} {y}h1v1h-1z" for y in range(SIZE) for x in range(SIZE) if cells >> (y * _HALF + min(x, SIZE - 1 - x)) & 1
    )
    hue = (number >> _CELLS) % HUES
    # Browsers ignore the size of a nested SVG element in a style sheet.
    place = {"x": x, "y": y, "width": PLACED, "height": PLACED} if x or y else {}
    style = f"emblem emblem-{hue}"
    return tag("svg", tag("path", d=path), viewBox="0 0 5 5", class_=style, aria_hidden="true", **place)


def _mix(bot_id: str) -> int:
    """Return 32 bits of the id: FNV-1a, then the last step of MurmurHash3, so that similar ids differ in all bits."""
    number = 0x811C9DC5
    for sign in bot_id.encode():
        number = (number ^ sign) * 0x01000193 & _MASK
    number = (number ^ number >> 16) * 0x85EBCA6B & _MASK
    number = (number ^ number >> 13) * 0xC2B2AE35 & _MASK
    return number ^ number >> 16
