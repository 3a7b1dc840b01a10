"""Draw charts as SVG with pure functions. CSS classes set the colours (``static/site/charts.css``)."""

from api.pages.charts.bars import StackPart, interval_bar, stacked_bar
from api.pages.charts.curves import RatingStep, rating_history, sparkline

__all__ = [
    "RatingStep",
    "StackPart",
    "interval_bar",
    "rating_history",
    "sparkline",
    "stacked_bar",
]
