"""Measure text in the fonts that pictures and badges are drawn with, and find out which characters they have.

Only the tables of a font with characters and widths are read; shaping is the renderer's task. The fonts are beside this
file, with their licences.
"""

import struct
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
FILES: Final = (FOLDER / "DejaVuSans.ttf", FOLDER / "DroidSansFallback.ttf")  # a character is drawn in the first
FAMILY: Final = "DejaVu Sans"
ELLIPSIS: Final = "…"
_ALL_OF_UNICODE: Final = (3, 10)  # platform and encoding of a table of characters, which both fonts have


@cache
def load_widths(path: Path) -> dict[int, float]:
    """Return the widths of a font's characters. Read its file once per process, and only when a text needs it."""
    return _read_widths(path.read_bytes())


def can_draw(text: str) -> bool:
    """Return whether the fonts have all characters of the text."""
    return all(_find_width(ord(sign)) is not None for sign in text)


def measure(text: str, size: float) -> float:
    """Return the approximate width of the text, for a font of ``size``. Kerning and ligatures are not included."""
    widths = (_find_width(ord(sign)) for sign in text)
    return size * sum(1.0 if width is None else width for width in widths)


def shorten(text: str, size: float, width: float) -> str:
    """Return the text, with its end replaced by an ellipsis if it is wider than ``width``."""
    if measure(text, size) <= width:
        return text
    kept = text
    while kept and measure(kept + ELLIPSIS, size) > width:
        kept = kept[:-1]
    return kept.rstrip() + ELLIPSIS


def _find_width(point: int) -> float | None:
    """Return the width of a character in the first font that has it, in ems, or None if no font has it."""
    return next((width for path in FILES if (width := load_widths(path).get(point)) is not None), None)


def _read_widths(content: bytes) -> dict[int, float]:
    """Return the advance width of each character of a TrueType font, in ems, keyed by code point."""
    tables = {
        tag: start for tag, _, start, _ in struct.iter_unpack(">4sLLL", content[12 : 12 + 16 * _read_short(content, 4)])
    }
    units = _read_short(content, tables[b"head"] + 18)
    measured = _read_short(content, tables[b"hhea"] + 34)  # glyphs with a width; the others have the last one
    start = tables[b"hmtx"]
    widths = [_read_short(content, start + 4 * glyph) / units for glyph in range(measured)]
    glyphs = _read_characters(content, tables[b"cmap"])
    return {point: widths[min(glyph, measured - 1)] for point, glyph in glyphs.items() if glyph}


def _read_characters(content: bytes, start: int) -> dict[int, int]:
    """Return glyphs keyed by code point, from the table of all Unicode characters, which has the format 12."""
    number = _read_short(content, start + 2)
    listed = struct.iter_unpack(">HHL", content[start + 4 : start + 4 + 8 * number])
    at = start + next(offset for platform, encoding, offset in listed if (platform, encoding) == _ALL_OF_UNICODE)
    (number,) = struct.unpack_from(">L", content, at + 12)
    groups = struct.iter_unpack(">LLL", content[at + 16 : at + 16 + 12 * number])
    return {point: glyph + point - first for first, last, glyph in groups for point in range(first, last + 1)}


def _read_short(content: bytes, at: int) -> int:
    number: int = struct.unpack_from(">H", content, at)[0]
    return number
