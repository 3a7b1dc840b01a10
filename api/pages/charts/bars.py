"""Draw bar charts: an interval, a stacked bar."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from api.pages.charts.axes import Scale
from api.pages.charts.svg import drawing, tag
from referee.figures import decimal

BAR_WIDTH, BAR_HEIGHT, BAR_EDGE = 72, 18, 4
GAP = 2
STACK_WIDTH, STACK_HEIGHT = 240, 14


@dataclass(frozen=True, slots=True)
class StackPart:
    """Describe a part of a stacked bar: its label, its amount, and the CSS class that colours it."""

    name: str
    amount: float
    colour: str


def interval_bar(value: float, low: float, high: float, domain: tuple[float, float], title: str) -> Markup:
    """Return a drawing of an interval, with a notch at the value, on a scale that several bars share."""
    x = Scale(*domain, BAR_EDGE, BAR_WIDTH - BAR_EDGE)
    begin, end, at = (min(max(x(figure), BAR_EDGE), BAR_WIDTH - BAR_EDGE) for figure in (low, high, value))
    middle = BAR_HEIGHT / 2
    parts = [
        tag("line", class_="grid", x1=BAR_EDGE, x2=BAR_WIDTH - BAR_EDGE, y1=middle, y2=middle),
        tag("rect", class_="range", x=begin, y=middle - 4, width=max(end - begin, 1), height=8, rx=2),
        tag("line", class_="notch", x1=at, x2=at, y1=1, y2=BAR_HEIGHT - 1),
    ]
    words = f"{title}: {decimal(low, 0)} to {decimal(high, 0)}"
    return drawing(BAR_WIDTH, BAR_HEIGHT, words, parts, class_="interval")


def stacked_bar(parts: Sequence[StackPart], title: str) -> Markup:
    """Return a bar of the parts in order, with gaps between them. Leave out parts with amount 0."""
    some = [part for part in parts if part.amount > 0]
    whole = sum(part.amount for part in some)
    x = Scale(0, whole, 0, STACK_WIDTH)
    boxes, before = [], 0.0
    for part in some:
        begin, end = x(before), x(before + part.amount) - (GAP if part is not some[-1] else 0)
        box = tag("rect", tag("title", part.name), x=begin, y=0, width=max(end - begin, 0.5), height=STACK_HEIGHT)
        boxes.append(tag("g", box, class_=part.colour))
        before += part.amount
    return drawing(STACK_WIDTH, STACK_HEIGHT, title, boxes, class_="stacked")
