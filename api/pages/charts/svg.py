"""SVG as text that is safe in a page: everything handed in is escaped, nothing carries a style of its own."""

from collections.abc import Iterable
from functools import cache
from typing import Final

from markupsafe import Markup, escape

Value = str | float
HEAVIEST: Final = 1e9


def tag(name: str, *children: Markup | str, **attributes: Value) -> Markup:
    """An element; ``class_`` and ``text_anchor`` name the attributes ``class`` and ``text-anchor``."""
    said = "".join(f' {_name(key)}="{_text(value)}"' for key, value in attributes.items())
    if not children:
        return Markup(f"<{name}{said}/>")  # noqa: S704  # its parts are escaped; Markup.format takes four times as long
    return Markup(f"<{name}{said}>{''.join(map(escape, children))}</{name}>")  # noqa: S704  # likewise


def drawing(
    width: float, height: float, title: str, parts: Iterable[Markup], *, class_: str, description: str = ""
) -> Markup:
    """A picture with a name, and what it shows in words, for those who do not see it."""
    words = [tag("title", title), *([tag("desc", description)] if description else [])]
    size = f"0 0 {number(width)} {number(height)}"
    return tag("svg", *words, *parts, viewBox=size, width=width, height=height, role="img", class_=class_)


def number(value: float) -> str:
    """To a tenth of a unit, without needless digits."""
    assert abs(value) < HEAVIEST, "a coordinate beyond any drawing"
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


@cache
def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _text(value: Value) -> str:
    return escape(value) if isinstance(value, str) else number(value)
