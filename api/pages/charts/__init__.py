"""Drawings of figures as SVG: pure functions of the figures, coloured by classes (``static/site/charts.css``)."""

from api.pages.charts.bars import Bin, Part, histogram, interval_bar, stacked_bar
from api.pages.charts.curves import RatingStep, rating_history, sparkline

__all__ = ["Bin", "Part", "RatingStep", "histogram", "interval_bar", "rating_history", "sparkline", "stacked_bar"]
