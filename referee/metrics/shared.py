"""Add up the counts of all processes in Redis, so that one address offers those of all hosts.

Work-horses live for minutes and containers share no directory, so neither files nor a port of each process would do.
When Redis loses its data, counters begin at zero again, which Prometheus expects of counters.
"""

import json
import logging
import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

from referee.metrics.process_metrics import MetricSeries, ProcessMetrics

SEND_EVERY_S: Final = 5.0
REPORT_EXPIRES_S: Final = 20.0  # of the states of a process that died
_COUNTS_KEY: Final = "referee:metrics:1"
_STATES_KEY: Final = "referee:metrics:states"
TIMEOUT_S: Final = 1.0

log = logging.getLogger(__name__)


def connect(redis_url: str) -> Redis:
    """Return a client that never waits long: a process that stops still sends its last counts."""
    times = {"socket_connect_timeout": TIMEOUT_S, "socket_timeout": TIMEOUT_S}
    return Redis.from_url(redis_url, **times, retry=Retry(NoBackoff(), 0))


class Sender:
    """Send the counts of a recorder every few seconds from a thread of its own, and once more at ``stop``.

    Without Redis, the counts wait in this process. If Redis vanishes while they are sent, they may count twice.
    """

    def __init__(self, recorder: ProcessMetrics, redis: Redis) -> None:
        self._recorder = recorder
        self._redis = redis
        self._id = secrets.token_hex(8)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)

    @property
    def is_started(self) -> bool:
        return self._thread.ident is not None

    def start(self) -> None:
        """Start the thread, unless it was started."""
        if not self.is_started:
            self._thread.start()

    def stop(self) -> None:
        """Send what is left and end the thread."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def send(self) -> None:
        """Send what was counted since the last call. Keep it if that fails."""
        taken = self._recorder.take()
        states = {"at": time.time(), **self._recorder.read_gauges()}
        try:
            with self._redis.pipeline() as pipeline:
                for series, amount in taken.items():
                    pipeline.hincrbyfloat(_COUNTS_KEY, _name_field(series), amount)
                if self._stopped.is_set():
                    pipeline.hdel(_STATES_KEY, self._id)
                else:
                    pipeline.hset(_STATES_KEY, self._id, json.dumps(states))
                pipeline.execute()
        except RedisError as error:
            self._recorder.put_back(taken)
            log.debug("metrics_not_sent", extra={"reason": str(error)})

    def _run(self) -> None:
        while not self._stopped.wait(SEND_EVERY_S):
            try:
                self.send()
            except Exception:  # last resort of this thread: counting must not end with one error
                log.exception("metrics_not_sent")
        self.send()


def read_counts(redis: Any) -> dict[MetricSeries, float]:
    """Return the counts of all processes. Leave out what is malformed, so that the rest can be read.

    Raise ``RedisError`` if Redis does not answer.
    """
    counts = {}
    for field, amount in redis.hgetall(_COUNTS_KEY).items():
        with suppress(ValueError, TypeError):
            counts[_parse_field(field)] = float(amount)
    return counts


def read_states(redis: Any, *, now: float | None = None) -> dict[str, float]:
    """Return the states of all processes, summed, and ``processes``, their number.

    Forget processes that died, and states that are malformed.
    """
    now = time.time() if now is None else now
    total: dict[str, float] = {"processes": 0}
    for process, stored in redis.hgetall(_STATES_KEY).items():
        states = _parse_states(stored)
        if states is None or abs(now - states["at"]) > REPORT_EXPIRES_S:
            with suppress(ResponseError):  # Redis refuses writes; the counts can still be read
                redis.hdel(_STATES_KEY, process)
            continue
        total["processes"] += 1
        for name, amount in states.items():
            if name != "at":
                total[name] = total.get(name, 0) + amount
    return total


def _name_field(series: MetricSeries) -> str:
    return json.dumps([series.metric, list(series.labels), series.part])


def _parse_field(field: bytes) -> MetricSeries:
    """Return what a field counts. Raise ``ValueError`` or ``TypeError`` if it is malformed."""
    metric, labels, part = json.loads(field)
    if not all(isinstance(text, str) for text in (metric, *labels, part)):
        raise TypeError("names, labels and parts are texts")
    return MetricSeries(metric, tuple(labels), part)


def _parse_states(stored: bytes) -> Mapping[str, float] | None:
    """Return the states of a process, or None if they are malformed."""
    try:
        states = {str(name): float(amount) for name, amount in json.loads(stored).items()}
    except (ValueError, TypeError, AttributeError):
        return None
    return states if "at" in states else None
