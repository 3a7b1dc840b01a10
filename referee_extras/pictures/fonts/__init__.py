"""Measure text in the fonts that pictures and badges are drawn with, and find out which characters they have.

Only the tables of a font with characters and widths are read; shaping is the renderer's task. The fonts are beside this
file, with their licences.
"""

import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
FILES: Final = (FOLDER / "DejaVuSans.ttf", FOLDER / "DroidSansFallback.ttf")  # a character is drawn in the first
FAMILY: Final = "DejaVu Sans"
ELLIPSIS: Final = "…"
_UNICODE: Final = ((3, 10), (3, 1), (0, 3))  # platform and encoding of the usable character tables, best first


@dataclass(frozen=True, slots=True)
class Font:
    """Hold the advance width of each character of a font, in ems, keyed by code point."""

    widths: dict[int, float]


@cache
def load_font(path: Path) -> Font:
    """Return a font. Read its file once per process, and only when a text needs it."""
    return _read_font(path.read_bytes())


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
    return next((width for path in FILES if (width := load_font(path).widths.get(point)) is not None), None)


def _read_font(content: bytes) -> Font:
    """Read a TrueType font. Raise ``ValueError`` if it has no usable character table."""
    tables = {
        tag: (start, size)
        for tag, _, start, size in struct.iter_unpack(">4sLLL", content[12 : 12 + 16 * _read_short(content, 4)])
    }
    units = _read_short(content, tables[b"head"][0] + 18)
    measured = _read_short(content, tables[b"hhea"][0] + 34)  # glyphs with a width; the others have the last one
    start = tables[b"hmtx"][0]
    widths = [_read_short(content, start + 4 * glyph) / units for glyph in range(measured)]
    glyphs = _read_characters(content, tables[b"cmap"][0])
    return Font({point: widths[min(glyph, measured - 1)] for point, glyph in glyphs.items() if glyph})


def _read_characters(content: bytes, start: int) -> dict[int, int]:
    """Return glyphs keyed by code point."""
    number = _read_short(content, start + 2)
    listed = struct.iter_unpack(">HHL", content[start + 4 : start + 4 + 8 * number])
    offsets = {(platform, encoding): start + offset for platform, encoding, offset in listed}
    for key in _UNICODE:
        if key in offsets:
            at = offsets[key]
            if _read_short(content, at) == 12:
                return _read_groups(content, at)
            if _read_short(content, at) == 4:
                return _read_segments(content, at)
    raise ValueError("the font has no character table of format 4 or 12")


def _read_groups(content: bytes, at: int) -> dict[int, int]:
    (number,) = struct.unpack_from(">L", content, at + 12)
    groups = struct.iter_unpack(">LLL", content[at + 16 : at + 16 + 12 * number])
    return {point: glyph + point - first for first, last, glyph in groups for point in range(first, last + 1)}


def _read_segments(content: bytes, at: int) -> dict[int, int]:
    count = _read_short(content, at + 6) // 2
    ends, starts, deltas, ranges = (
        struct.unpack_from(f">{count}H", content, at + 14 + 2 * part * count + (2 if part else 0)) for part in range(4)
    )
    first_range = at + 16 + 6 * count
    glyphs: dict[int, int] = {}
    for index, (first, last) in enumerate(zip(starts, ends, strict=True)):
        for point in range(first, min(last, 0xFFFE) + 1):
            glyph = point
            if ranges[index]:
                glyph = _read_short(content, first_range + 2 * index + ranges[index] + 2 * (point - first))
            if glyph:
                glyphs[point] = (glyph + deltas[index]) & 0xFFFF
    return glyphs


def _read_short(content: bytes, at: int) -> int:
    number: int = struct.unpack_from(">H", content, at)[0]
    return number
