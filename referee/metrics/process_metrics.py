"""Count in this process. ``shared`` sends what was counted to the other processes."""

import threading
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import NamedTuple, TypeVar

from referee import plugs
from referee.metrics import catalog
from referee.metrics.catalog import CountedMetric

_Item = TypeVar("_Item")


class MetricSeries(NamedTuple):
    """Identify a number: the metric, the values of its labels, and the part of a histogram ("sum" or a bucket)."""

    metric: str
    labels: tuple[str, ...] = ()
    part: str = ""


class ProcessMetrics:
    """Count until ``take``. Thread-safe.

    ``answers`` (our own time and that of the bot) and ``writes`` are filled by the event loop without a lock, because
    answers are by far the most frequent event. ``take`` counts them.
    """

    def __init__(self) -> None:
        self.answers: deque[tuple[float, float]] = deque()
        self.writes: deque[float] = deque()
        self._lock = threading.Lock()
        self._counted: dict[MetricSeries, float] = {}
        self._gauges: dict[str, Callable[[], float]] = {}
        self._totals: dict[str, tuple[Callable[[], float], float]] = {}

    def count(self, metric: CountedMetric, *labels: str, by: float = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self._add(MetricSeries(metric.name, labels), by)

    def observe(self, metric: CountedMetric, seconds: float, *labels: str) -> None:
        """Add a duration to a histogram."""
        with self._lock:
            self._observe(metric, labels, [seconds])

    def report(self, gauge: str, read: Callable[[], float]) -> None:
        """Report a state of this process whenever the counts are sent. ``read`` returns it."""
        self._gauges[gauge] = read

    def follow(self, metric: CountedMetric, read: Callable[[], float]) -> None:
        """Count by how much the number that ``read`` returns rises from now on."""
        self._totals[metric.name] = read, read()

    def take(self) -> dict[MetricSeries, float]:
        """Return what was counted since the last call."""
        answers, writes = _empty(self.answers), _empty(self.writes)
        with self._lock:
            if answers:
                self._observe(catalog.TIME_BEFORE, (), [own_s for own_s, _ in answers])
                self._observe(catalog.TIME_OF_BOT, (), [bot_s for _, bot_s in answers])
                self._add(MetricSeries(catalog.DECISIONS.name, ("bot",)), len(answers))
            if writes:
                self._observe(catalog.TIME_AFTER, (), writes)
            for labels, failures in plugs.take_failures().items():
                self._add(MetricSeries(catalog.EXTRA_FAILURES.name, labels), failures)
            for name, (read, before) in self._totals.items():
                now = read()
                self._add(MetricSeries(name), now - before)
                self._totals[name] = read, now
            taken, self._counted = self._counted, {}
        return taken

    def put_back(self, taken: Mapping[MetricSeries, float]) -> None:
        """Count again what could not be sent."""
        with self._lock:
            for series, amount in taken.items():
                self._add(series, amount)

    def read_gauges(self) -> dict[str, float]:
        """Return the states of this process."""
        return {name: read() for name, read in self._gauges.items()}

    def _observe(self, metric: CountedMetric, labels: tuple[str, ...], times: Sequence[float]) -> None:
        """Add durations to the buckets; the last bucket has no upper limit."""
        for bucket, count in Counter(map(partial(bisect_left, metric.buckets), times)).items():
            self._add(MetricSeries(metric.name, labels, str(bucket)), count)
        self._add(MetricSeries(metric.name, labels, "sum"), sum(times))

    def _add(self, series: MetricSeries, amount: float) -> None:
        self._counted[series] = self._counted.get(series, 0) + amount


def _empty(times: deque[_Item]) -> list[_Item]:
    return [times.popleft() for _ in repeat(None, len(times))]
