"""Draw bar charts: an interval, a histogram, a stacked bar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from api.pages.charts.axes import Scale, ticks
from api.pages.charts.svg import drawing, tag
from referee.figures import count, decimal

BAR_WIDTH, BAR_HEIGHT, BAR_EDGE = 72, 18, 4
WIDTH, HEIGHT = 640, 230
LEFT, RIGHT, TOP, BOTTOM = 66, 34, 14, 46
GAP = 2
MAX_NAMES = 8  # labels along an axis
STACK_WIDTH, STACK_HEIGHT = 240, 14


@dataclass(frozen=True, slots=True)
class Bin:
    """Describe a bin of a histogram: its count, and the label on the axis where it begins."""

    name: str
    number: int


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


def histogram(bins: Sequence[Bin], title: str, end: str = "") -> Markup:
    """Return a chart of one or more bins, with a bar for each. ``end`` is the label at the end of the axis."""
    highest = max(1, *(bin.number for bin in bins))
    x = Scale(0, len(bins), LEFT, WIDTH - RIGHT)
    y = Scale(0, highest, HEIGHT - BOTTOM, TOP)
    parts = [*_levels(highest, y), *_bars(bins, x, y), *_names([*(bin.name for bin in bins), end], x)]
    total = sum(bin.number for bin in bins)
    return drawing(WIDTH, HEIGHT, title, parts, class_="histogram", description=f"{count(total)} in {len(bins)} bars")


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


def _levels(highest: int, y: Scale) -> Iterator[Markup]:
    for number in ticks(0, highest, 4, whole=True):
        yield tag("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y(number), y2=y(number))
        yield tag("text", count(round(number)), x=LEFT - 8, y=y(number), dy=".35em", text_anchor="end")


def _bars(bins: Sequence[Bin], x: Scale, y: Scale) -> Iterator[Markup]:
    for index, bin in enumerate(bins):
        if bin.number:
            left, top = x(index) + GAP / 2, y(bin.number)
            size = {"width": max(x(index + 1) - x(index) - GAP, 1), "height": y(0) - top}
            yield tag("rect", tag("title", f"{bin.name}: {count(bin.number)}"), class_="bar", x=left, y=top, **size)


def _names(names: Sequence[str], x: Scale) -> Iterator[Markup]:
    apart = -(-len(names) // MAX_NAMES)
    for at in range(0, len(names), apart):
        yield tag("text", names[at], x=x(at), y=HEIGHT - 8, text_anchor="middle")
