"""Draw an entrant's luck-adjusted score beside its luck."""

from markupsafe import Markup

from api.pages.charts.axes import Scale
from api.pages.charts.svg import drawing, number, tag

WIDTH, HEIGHT, EDGE = 152, 18, 6


def luck_bar(value: float, error: float | None, cards: float, most: float, title: str) -> Markup:
    """Return a bar from zero to ``value`` with its standard error as a line, and a tick at ``cards``, the luck.

    Zero is in the middle, and the ends are at ``most`` on both sides, as in all bars of a table.
    """
    x = Scale(-most, most, EDGE, WIDTH - EDGE)
    middle, zero, at = HEIGHT / 2, x(0), x(value)
    side = "ahead" if value >= 0 else "behind"
    parts = [
        tag("line", class_="grid", x1=zero, x2=zero, y1=0, y2=HEIGHT),
        tag("rect", class_=side, x=min(zero, at), y=middle - 4, width=max(abs(at - zero), 1), height=8),
    ]
    if error is not None:
        low, high = (min(max(x(value + way * error), 0), WIDTH) for way in (-1, 1))
        parts.append(tag("line", class_="error", x1=low, x2=high, y1=middle, y2=middle))
    diamond = f"M{number(x(cards))},{number(middle - 6)}l5,6l-5,6l-5,-6Z"
    parts.append(tag("path", class_="cards", d=diamond))
    return drawing(WIDTH, HEIGHT, title, parts, class_="luck")
