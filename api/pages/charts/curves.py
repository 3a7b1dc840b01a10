"""Draw line charts: the history of a rating, and its trend as a sparkline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from api.pages.charts.axes import Scale, round_outwards, ticks
from api.pages.charts.svg import drawing, number, tag
from referee.figures import count, decimal
from referee.ladders.kinds import EntryKind

WIDTH, HEIGHT = 640, 280
LEFT, RIGHT, TOP, BOTTOM = 66, 22, 18, 46  # margins, with room for large type on phones
MIN_POINTS: Final = 40.0  # least range of the axis, so that small changes do not look large
SPARK_WIDTH, SPARK_HEIGHT, SPARK_EDGE = 84, 26, 3
SHAPES: Final = {EntryKind.VOID: "M-4,-4L4,4M-4,4L4,-4", "version": "M-5,0L5,0L0,8Z"}


@dataclass(frozen=True, slots=True)
class RatingStep:
    """Describe a change of a rating by a ledger entry of this ``kind``. ``version`` is set only if it is new."""

    before: float
    after: float
    kind: str = EntryKind.RESULT
    version: str | None = None
    label: str = ""


def rating_history(steps: Sequence[RatingStep], title: str) -> Markup:
    """Return a chart of the rating after each ledger entry, with marks at new versions and voids.

    ``steps`` are ordered from oldest to newest. There must be at least one.
    """
    values = [steps[0].before, *(step.after for step in steps)]
    low, high = round_outwards(min(values), max(values), least=MIN_POINTS)
    x = Scale(0, len(steps), LEFT, WIDTH - RIGHT)
    y = Scale(low, high, HEIGHT - BOTTOM, TOP)
    parts = [*_levels(low, high, y), *_numbers(len(steps), x), tag("path", class_="line", d=_step_path(values, x, y))]
    parts += [mark for number, step in enumerate(steps, 1) for mark in _marks(step, x(number), y)]
    parts.append(tag("circle", class_="end", cx=x(len(steps)), cy=y(values[-1]), r=4))
    description = f"{_describe_range(values)}, in {count(len(steps))} steps"
    return drawing(WIDTH, HEIGHT, title, parts, class_="history", description=description)


def sparkline(values: Sequence[float], title: str) -> Markup:
    """Return a chart of a trend without axes, with a dot at the last value. There must be at least two values."""
    x = Scale(0, len(values) - 1, SPARK_EDGE, SPARK_WIDTH - SPARK_EDGE)
    y = Scale(min(values), max(values), SPARK_HEIGHT - SPARK_EDGE, SPARK_EDGE)
    points = " ".join(f"{number(x(at))},{number(y(value))}" for at, value in enumerate(values))
    line = tag("polyline", class_="line", points=points)
    end = tag("circle", class_="end", cx=x(len(values) - 1), cy=y(values[-1]), r=2.5)
    return drawing(SPARK_WIDTH, SPARK_HEIGHT, f"{title}: {_describe_range(values)}", [line, end], class_="spark")


def _describe_range(values: Sequence[float]) -> str:
    first, last, low, high = (decimal(value) for value in (values[0], values[-1], min(values), max(values)))
    return f"from {first} to {last}, between {low} and {high}"


def _step_path(values: Sequence[float], x: Scale, y: Scale) -> str:
    """Return the path of a step line: horizontal up to the next entry, then vertical."""
    turns = (f"H{number(x(at))}V{number(y(value))}" for at, value in enumerate(values[1:], 1))
    return f"M{number(x(0))},{number(y(values[0]))}{''.join(turns)}"


def _levels(low: float, high: float, y: Scale) -> Iterator[Markup]:
    for value in ticks(low, high):
        yield tag("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y(value), y2=y(value))
        yield tag("text", count(round(value)), x=LEFT - 8, y=y(value), dy=".35em", text_anchor="end")


def _numbers(last: int, x: Scale) -> Iterator[Markup]:
    for at in ticks(0, last, 6, whole=True):
        yield tag("line", class_="tick", x1=x(at), x2=x(at), y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM + 5)
        yield tag("text", count(round(at)), x=x(at), y=HEIGHT - 10, text_anchor="middle")


def _marks(step: RatingStep, x: float, y: Scale) -> Iterator[Markup]:
    if step.version is not None:
        line = tag("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM)
        shape = tag("path", d=SHAPES["version"], transform=f"translate({number(x)} {TOP - 8})")
        yield tag("g", tag("title", f"version {step.version}"), line, shape, class_="mark version")
    if step.kind in SHAPES:
        shape = tag("path", d=SHAPES[step.kind], transform=f"translate({number(x)} {number(y(step.after))})")
        yield tag("g", tag("title", step.label or step.kind), shape, class_=f"mark {step.kind}")
