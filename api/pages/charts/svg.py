"""Build SVG that is safe in a page: escape all text, and use no style attributes."""

from collections.abc import Iterable
from functools import cache
from typing import Final

from markupsafe import Markup, escape

Value = str | float
MAX_COORDINATE: Final = 1e9


def tag(name: str, *children: Markup | str, **attributes: Value) -> Markup:
    """Return an element; ``class_`` and ``text_anchor`` become the attributes ``class`` and ``text-anchor``."""
    encoded = "".join(f' {_name(key)}="{_text(value)}"' for key, value in attributes.items())
    if not children:
        return Markup(f"<{name}{encoded}/>")  # noqa: S704  # its parts are escaped; Markup.format is four times slower
    return Markup(f"<{name}{encoded}>{''.join(map(escape, children))}</{name}>")  # noqa: S704  # likewise


def drawing(
    width: float, height: float, title: str, parts: Iterable[Markup], *, class_: str, description: str = ""
) -> Markup:
    """Return a drawing with a title and, for screen readers, a description."""
    words = [tag("title", title), *([tag("desc", description)] if description else [])]
    size = f"0 0 {number(width)} {number(height)}"
    return tag("svg", *words, *parts, viewBox=size, width=width, height=height, role="img", class_=class_)


def number(value: float) -> str:
    """Return a coordinate, rounded to a tenth of a unit, without unnecessary digits."""
    assert abs(value) < MAX_COORDINATE, "the coordinate is outside any drawing"
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


@cache
def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _text(value: Value) -> str:
    return escape(value) if isinstance(value, str) else number(value)
