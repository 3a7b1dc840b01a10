"""Offer the metrics of the whole service in the format of Prometheus."""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from redis import Redis, RedisError
from sqlalchemy.exc import SQLAlchemyError

import referee
from referee.errors import RefereeError
from referee.matches.states import MatchKind, MatchState
from referee.metrics import catalog, shared
from referee.metrics.catalog import CountedMetric
from referee.metrics.database import DatabaseFigures, DatabaseReader
from referee.metrics.process_metrics import MetricSeries

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """Hold what workers and schedulers report. ``stalled_s`` is None if no scheduler watches the queue."""

    workers: int
    shortages: int
    stalled_s: float | None


class ServiceCollector(Collector):
    """Collect the metrics of the service at each scrape. Leave out what cannot be read; ``referee_up`` says so."""

    def __init__(self, database: DatabaseReader, redis: Redis, read_queue: Callable[[Any], QueueFigures]) -> None:
        self._database, self._redis, self._read_queue = database, redis, read_queue
        self._lock = threading.Lock()

    def describe(self) -> list[Metric]:
        """Return nothing, so that registering this collector reads nothing."""
        return []

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            figures, reports = self._read_database(), self._read_redis()
        yield _gauge("referee_build", "The version of the service.", {(referee.__version__,): 1}, ["version"])
        up = {("database",): float(figures is not None), ("redis",): float(reports is not None)}
        yield _gauge("referee_up", "Whether the part could be read (1) or not (0).", up, ["part"])
        if figures is not None:
            yield from database_metrics(figures)
        if reports is not None:
            counts, states, queue = reports
            yield from counted_metrics(counts)
            yield from _state_metrics(states)
            yield from _queue_metrics(queue)

    def _read_database(self) -> DatabaseFigures | None:
        try:
            return self._database.read()
        except (SQLAlchemyError, RefereeError) as error:
            log.warning("metrics_incomplete", extra={"part": "database", "reason": type(error).__name__})
            return None

    def _read_redis(self) -> tuple[Mapping[MetricSeries, float], Mapping[str, float], QueueFigures] | None:
        try:
            counts = shared.read_counts(self._redis)
            return counts, shared.read_states(self._redis), self._read_queue(self._redis)
        except RedisError as error:
            log.warning("metrics_incomplete", extra={"part": "redis", "reason": str(error)})
            return None


def counted_metrics(counts: Mapping[MetricSeries, float]) -> Iterator[Metric]:
    """Yield what processes counted. Metrics without labels and ``from_zero`` are there before their first event."""
    by_metric: dict[str, dict[tuple[str, ...], dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for series, amount in counts.items():
        by_metric[series.metric][series.labels][series.part] = amount
    for metric in catalog.COUNTED:
        found = by_metric[metric.name]
        if not metric.labels:
            found[()]  # a counter that is missing could not rise from zero
        for labels in metric.from_zero:
            found[labels]
        yield _histogram(metric, found) if metric.buckets else _counter(metric, found)


def _counter(metric: CountedMetric, found: Mapping[tuple[str, ...], Mapping[str, float]]) -> Metric:
    family = CounterMetricFamily(metric.name, metric.help, labels=metric.labels)
    for labels, parts in sorted(found.items()):
        family.add_metric(labels, parts.get("", 0))
    return family


def _histogram(metric: CountedMetric, found: Mapping[tuple[str, ...], Mapping[str, float]]) -> Metric:
    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    for labels, parts in sorted(found.items()):
        total, buckets = 0.0, []
        for place, limit in enumerate((*metric.buckets, float("inf"))):
            total += parts.get(str(place), 0)
            buckets.append(("+Inf" if limit == float("inf") else str(limit), total))
        family.add_metric(labels, buckets, parts.get("sum", 0))
    return family


def database_metrics(figures: DatabaseFigures) -> Iterator[Metric]:
    """Yield what the database says. Each state and kind is there, with 0 if no match has it."""
    matches = {
        (state.value, kind.value): figures.matches.get((state.value, kind.value), 0)
        for state in MatchState
        for kind in MatchKind
    }
    help = "Matches by state and kind; those that have ended are counted every ten minutes."
    yield _gauge("referee_matches", help, matches, ["state", "kind"])
    yield CounterMetricFamily("referee_results", "Matches with a result.", figures.results)
    for name, help, amount in (
        ("queue_oldest_due_seconds", "Age of the oldest match that is due.", figures.oldest_due_s),
        ("expired_leases", "Matches whose runner was lost, not claimed yet.", figures.expired_leases),
        ("database_size_bytes", "Size of the database.", figures.size_bytes),
        ("database_read_seconds", "Time in which these figures were read.", figures.read_s),
        ("audit_differences", "Differences that the last audits found.", figures.audit_differences),
        ("audit_age_seconds", "Time since the last audit ended.", figures.audit_age_s),
    ):
        if amount is not None:
            yield _gauge(f"referee_{name}", help, {(): amount})
    results = CounterMetricFamily("referee_ladder_results", "Results on an official ladder.", labels=["ladder"])
    for pace in figures.ladders:
        results.add_metric([pace.name], pace.results)
    yield results
    due = {(pace.name,): pace.members_due for pace in figures.ladders}
    yield _gauge("referee_ladder_members_due", "Bots whose next ladder match is due.", due, ["ladder"])
    overdue = {(pace.name,): pace.overdue_s for pace in figures.ladders}
    help = "For how long the bot that is due longest has waited for its ladder match."
    yield _gauge("referee_ladder_overdue_seconds", help, overdue, ["ladder"])


def _state_metrics(states: Mapping[str, float]) -> Iterator[Metric]:
    for name, help in catalog.PROCESS_GAUGES.items():
        yield _gauge(name, help, {(): states.get(name, 0)})
    yield _gauge("referee_processes", "API processes and work-horses that report.", {(): states["processes"]})


def _queue_metrics(queue: QueueFigures) -> Iterator[Metric]:
    yield _gauge("referee_workers", "Workers with a recent heartbeat.", {(): queue.workers})
    help = "Workers that lacked file descriptors, threads or memory in the last minute, by cause."
    yield _gauge("referee_worker_shortages", help, {(): queue.shortages})
    yield _gauge("referee_queue_watched", "Whether a scheduler watches the queue.", {(): queue.stalled_s is not None})
    help = "For how long due work has waited that a runner could claim."
    yield _gauge("referee_queue_stalled_seconds", help, {(): queue.stalled_s or 0})


def _gauge(name: str, help: str, samples: Mapping[Any, float], labels: list[str] | None = None) -> Metric:
    family = GaugeMetricFamily(name, help, labels=labels or [])
    for values, amount in samples.items():
        family.add_metric(values, float(amount))
    return family
