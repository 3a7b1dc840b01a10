"""Measure for how long the matches of a scenario stood still, and which went on at another host."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from tools.chaos.bots import Ask, Notebook

LIMIT_S = 20.0
EXAMPLES = 3


class Window(NamedTuple):
    """Hold when a scenario began and ended, and what it noted."""

    name: str
    began: float
    ended: float
    refused: int = 0
    note: str = ""


class Silence(NamedTuple):
    """Describe a time without a question in a match."""

    seconds: float
    match_id: str
    has_moved: bool  # whether another host asked the next question


@dataclass(frozen=True, slots=True)
class WindowReport:
    """Hold the longest silence of every match that was in progress during a scenario, in ascending order."""

    window: Window
    silences: Sequence[Silence]
    moved: int

    def find_quantile(self, share: float) -> float:
        """Return a quantile of the longest silences."""
        return self.silences[min(int(share * len(self.silences)), len(self.silences) - 1)].seconds

    @property
    def too_long(self) -> list[Silence]:
        return [silence for silence in self.silences if silence.seconds > LIMIT_S]


def measure_window(window: Window, notebook: Notebook, now: float) -> WindowReport:
    """Return the longest silence of each match. One that has not ended is silent until ``now``."""
    longest, moved = [], 0
    for match_id, asks in notebook.by_match.items():
        silences = [
            silence
            for start, end, silence in _list_silences(match_id, asks, notebook.ended.get(match_id, now))
            if start < window.ended and end > window.began
        ]
        if silences:
            longest.append(max(silences))
            moved += any(silence.has_moved for silence in silences)
    return WindowReport(window, sorted(longest), moved)


def _list_silences(match_id: str, asks: Sequence[Ask], ended: float) -> Iterator[tuple[float, float, Silence]]:
    for before, after in pairwise(asks):
        yield before.at, after.at, Silence(after.at - before.at, match_id, after.host != before.host)
    yield asks[-1].at, ended, Silence(ended - asks[-1].at, match_id, False)


def render_windows(reports: Sequence[WindowReport]) -> str:
    """Return a table of the scenarios, with the matches that stood still for too long below their line."""
    width = max(len(report.window.name) for report in reports)
    lines = [f"{'scenario':{width}}  seconds  matches  moved  p50 s  p90 s  longest s  API repeats"]
    for report in reports:
        window = report.window
        figures = "      -      -          -"
        if report.silences:
            figures = f"{report.find_quantile(0.5):7.2f}{report.find_quantile(0.9):7.2f}{report.find_quantile(1):11.2f}"
        lines.append(
            f"{window.name:{width}}  {window.ended - window.began:7.0f}  {len(report.silences):7}  {report.moved:5}"
            f"{figures}  {window.refused:11}  {window.note}".rstrip()
        )
        lines += [
            f"    {silence.match_id} stood still for {silence.seconds:.1f} s" for silence in report.too_long[-EXAMPLES:]
        ]
    return "\n".join(lines)
