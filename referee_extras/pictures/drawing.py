"""Draw the content of a picture as SVG, without references to other files, and as PNG."""

from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape

import resvg_py

from referee.emblems import HUES, SIZE, emblem_pattern
from referee_extras.pictures import fonts
from referee_extras.pictures.contents import HEIGHT, WIDTH, PictureContent, Player, Row

MAX_ROWS: Final = 10
_MARGIN: Final = 64
_HEAD: Final = 96  # height of the coloured head
_BOTTOM: Final = 592  # rows end here
_ONE_COLUMN: Final = 5  # most rows in a single column
_GAP: Final = 28  # between two columns
_GREEN, _PALE, _GROUND, _PAPER = "#14543a", "#e2f0e8", "#f6f7f5", "#ffffff"
_INK, _QUIET, _LINE, _LIVE = "#1b211e", "#55605a", "#d8ddd9", "#a8261d"
_BOLD: Final = (
    0.035  # width of the outline that makes letters bold, in ems; the fonts have no bold face for all scripts
)
_LEAST_SIZE: Final = 0.62  # a long text is drawn smaller, down to this part of its size, before it is shortened
_LOGO: Final = (
    '<g transform="translate(64 24) scale(1.5)"><rect width="32" height="32" rx="7" fill="#0f3f2c"/>'
    '<g transform="rotate(-9 16 16)"><rect x="9" y="6.5" width="14" height="19" rx="2.2" fill="#fff"/>'
    '<path d="M16 11.2c2 2.5 4 3.9 4 6.1a2.1 2.1 0 0 1-3.4 1.6c.2 1 .6 1.7 1.2 2.3h-3.6c.6-.6 1-1.3 1.2-2.3a2.1 2.1 0 0'
    ' 1-3.4-1.6c0-2.2 2-3.6 4-6.1z" fill="#14543a"/></g></g>'
)


def draw_png(content: PictureContent) -> bytes:
    """Return the picture as PNG. Raise ``ValueError`` if it cannot be drawn."""
    return rasterize(draw_svg(content))


def rasterize(svg: str, *, width: int = WIDTH) -> bytes:
    """Return a drawing as PNG of this width, in the fonts of this package alone."""
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            width=width,
            skip_system_fonts=True,
            font_files=[str(path) for path in fonts.FILES],
            font_family=fonts.FAMILY,
            sans_serif_family=fonts.FAMILY,
        )
    )


def draw_svg(content: PictureContent) -> str:
    """Return the picture as SVG."""
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="{fonts.FAMILY}">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_GROUND}"/>',
            *_draw_head(content),
            *_draw_body(content),
            "</svg>",
        )
    )


def _draw_head(content: PictureContent) -> Iterator[str]:
    yield f'<rect width="{WIDTH}" height="{_HEAD}" fill="{_GREEN}"/>{_LOGO}'
    yield _text(132, 60, "Referee", 34, 260, fill="#fff", bold=True)
    size, right = 28, WIDTH - _MARGIN
    if content.is_live:
        width = fonts.measure(content.label, size) + 70
        yield f'<rect x="{right - width:.0f}" y="24" width="{width:.0f}" height="48" rx="24" fill="#fff"/>'
        yield f'<circle cx="{right - width + 28:.0f}" cy="48" r="9" fill="{_LIVE}"/>'
        yield _text(right - 22, 58, content.label, size, 640, fill=_LIVE, end=True, bold=True)
    else:
        yield _text(right, 58, content.label, size, 640, fill="#fff", end=True)


def _draw_body(content: PictureContent) -> Iterator[str]:
    left, baseline = _MARGIN, _HEAD + 84
    if content.emblem_of is not None:
        yield _emblem(content.emblem_of, _MARGIN, _HEAD + 34, 116)
        left += 116 + 34
    title = content.title if fonts.can_draw(content.title) else content.subject
    yield _text(left, baseline, title, 58, WIDTH - _MARGIN - left, bold=True)
    for line in content.lines:
        baseline += 46
        if fonts.can_draw(line):
            yield _text(left, baseline, line, 29, WIDTH - _MARGIN - left, fill=_QUIET)
    top = max(baseline, _HEAD + 130 if content.emblem_of else 0) + 38
    if content.rows:
        yield from _draw_rows(content.rows[:MAX_ROWS], top)
    elif content.remark:
        yield f'<rect x="{_MARGIN}" y="{top}" width="{WIDTH - 2 * _MARGIN}" height="110" rx="14" fill="{_PALE}"/>'
        yield _text(_MARGIN + 34, top + 67, content.remark, 34, WIDTH - 2 * _MARGIN - 68, fill=_GREEN)


def _draw_rows(rows: Sequence[Row], top: float) -> Iterator[str]:
    columns = 1 if len(rows) <= _ONE_COLUMN else 2
    lines = -(-len(rows) // columns)
    width = (WIDTH - 2 * _MARGIN - _GAP * (columns - 1)) / columns
    pitch = min(104.0, (_BOTTOM - top + 12) / lines)
    before = max(fonts.measure(row.before, 1) for row in rows)
    for index, row in enumerate(rows):
        column, line = divmod(index, lines)
        x, y = _MARGIN + column * (width + _GAP), top + line * pitch
        yield from _draw_row(row, x, y, width, pitch - 12, before)


def _draw_row(row: Row, x: float, y: float, width: float, height: float, before: float) -> Iterator[str]:
    """Draw a row. ``before`` is the width of the widest text before a name in this picture, in ems."""
    fill, line = (_PALE, _GREEN) if row.is_first else (_PAPER, _LINE)
    yield (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="12" '
        f'fill="{fill}" stroke="{line}" stroke-width="2"/>'
    )
    size = min(38.0, height * 0.55)
    baseline, left, right = y + height / 2 + size * 0.36, x + 22, x + width - 22
    if row.before:
        yield _text(left, baseline, row.before, size * 0.8, size * 3, fill=_QUIET)
        left += size * (0.8 * before + 0.6)
    if row.player.bot_id is not None or row.player.name is None:
        side = height * 0.62
        yield _emblem(row.player.bot_id, left, y + (height - side) / 2, side)
        left += side + size * 0.55
    if row.note:
        yield _text(right, baseline, row.note, size * 0.68, width / 4, fill=_QUIET, end=True)
        right -= fonts.measure(row.note, size * 0.68) + size * 0.5
    if row.value:
        yield _text(right, baseline, row.value, size, width / 2.6, end=True, bold=row.is_first)
        right -= fonts.measure(row.value, size) + size * 0.8
    quiet = row.player.name is None or not fonts.can_draw(row.player.name)
    fill = _QUIET if quiet else _INK
    yield _text(left, baseline, _name_of(row.player), size, right - left, fill=fill, bold=row.is_first and not quiet)


def _name_of(player: Player) -> str:
    """Return the name, or the id of a bot whose name has characters that the fonts lack."""
    if player.name is None:
        return "not public yet"
    return player.name if fonts.can_draw(player.name) else player.bot_id or ""


def _emblem(bot_id: str | None, x: float, y: float, side: float) -> str:
    """Return the emblem of a bot, or the outline of one."""
    if bot_id is None:
        return (
            f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{side - 2:.1f}" height="{side - 2:.1f}" rx="5" '
            f'fill="none" stroke="{_LINE}" stroke-width="3" stroke-dasharray="6 5"/>'
        )
    path, hue = emblem_pattern(bot_id)
    return (
        f'<path transform="translate({x:.1f} {y:.1f}) scale({side / SIZE:.3f})" d="{path}" '
        f'fill="hsl({HUES[hue]}, 60%, 34%)"/>'
    )


def _text(
    x: float, y: float, text: str, size: float, width: float, *, fill: str = _INK, end: bool = False, bold: bool = False
) -> str:
    """Return a line of text that is at most ``width`` wide, with its right end at ``x`` if ``end`` is true."""
    text = "".join(sign if sign.isprintable() else " " for sign in text)
    measured = fonts.measure(text, size) * (1 + _BOLD if bold else 1)
    fitted = size if measured <= width else max(size * _LEAST_SIZE, size * width / measured)
    shown = escape(fonts.shorten(text, fitted * (1 + _BOLD if bold else 1), width + 0.5))
    outline = f' stroke="{fill}" stroke-width="{fitted * _BOLD:.2f}"' if bold else ""
    anchor = ' text-anchor="end"' if end else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{fitted:.1f}" fill="{fill}"{outline}{anchor}>{shown}</text>'
