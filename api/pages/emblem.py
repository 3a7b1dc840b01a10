"""Draw the emblem of a bot in pages. ``static/site/emblem.js`` draws the same; ``referee.emblems`` has the pattern.

An emblem is decorative: the name of the bot is always beside it.
"""

from functools import lru_cache
from typing import Final

from markupsafe import Markup

from api.pages.charts.svg import tag
from referee.emblems import emblem_pattern

PLACED: Final = 15  # width and height in a drawing


@lru_cache(maxsize=4_096)
def emblem(bot_id: str, *, x: float = 0, y: float = 0) -> Markup:
    """Return the emblem of the bot as an SVG element, which screen readers skip: in a drawing, at this position."""
    path, hue = emblem_pattern(bot_id)
    # Browsers ignore the size of a nested SVG element in a style sheet.
    place = {"x": x, "y": y, "width": PLACED, "height": PLACED} if x or y else {}
    style = f"emblem emblem-{hue}"  # a class of site.css
    return tag("svg", tag("path", d=path), viewBox="0 0 5 5", class_=style, aria_hidden="true", **place)
