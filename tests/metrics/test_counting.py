"""What a process counts arrives in the metrics of the service, also with several processes and without Redis."""

import json
import threading
import time
from functools import partial

import pytest
from redis import Redis

from referee.db.engine import Database
from referee.metrics import catalog, shared
from referee.metrics.process_metrics import MetricSeries, ProcessMetrics
from referee.metrics.shared import Sender
from tests.metrics.conftest import scrape, serving, value


def test_counts_of_several_processes_are_added(database: Database, redis_url: str) -> None:
    first, second = ProcessMetrics(), ProcessMetrics()
    first.count(catalog.FAULTS, "deadline", by=2)
    second.count(catalog.FAULTS, "deadline")
    first.answers.append((0.001, 0.03))
    second.answers.append((0.003, 4.0))
    second.writes.append(0.02)

    for process in (first, second):
        Sender(process, shared.connect(redis_url)).send()

    with serving(database, redis_url) as server:
        found = scrape(server)
    assert value(found, "referee_faults_total", code="deadline") == 3
    assert value(found, "referee_decisions_total", player="bot") == 2
    assert value(found, "referee_decision_bot_seconds_count") == 2
    assert value(found, "referee_decision_bot_seconds_sum") == 4.03
    assert value(found, "referee_decision_bot_seconds_bucket", le="0.02") == 0
    assert value(found, "referee_decision_bot_seconds_bucket", le="0.05") == 1
    assert value(found, "referee_decision_bot_seconds_bucket", le="5.0") == 2
    assert value(found, "referee_decision_before_seconds_bucket", le="0.001") == 1  # a limit belongs to its bucket
    assert value(found, "referee_decision_after_seconds_bucket", le="+Inf") == 1
    in_decades = [part * unit for unit in (0.001, 0.01, 0.1, 1) for part in (1, 2, 5)]
    assert list(catalog.TIME_OF_BOT.buckets) == pytest.approx([*in_decades, 10, 30, 60])


def test_counts_are_sent_once_wait_while_redis_is_away_and_are_sent_at_the_end(redis_url: str) -> None:
    process = ProcessMetrics()
    process.count(catalog.LEASES_EXPIRED, by=3)
    Sender(process, shared.connect("redis://127.0.0.1:1/0")).send()
    process.count(catalog.LEASES_EXPIRED)
    sender = Sender(process, shared.connect(redis_url))

    sender.send()
    sender.send()
    assert shared.read_counts(Redis.from_url(redis_url)) == {MetricSeries("referee_leases_expired"): 4}
    sender.start()
    process.count(catalog.LEASES_EXPIRED)
    sender.stop()

    assert shared.read_counts(Redis.from_url(redis_url)) == {MetricSeries("referee_leases_expired"): 5}


def test_no_count_is_lost_among_threads() -> None:
    process, taken = ProcessMetrics(), []

    def work() -> None:
        for _ in range(2_000):
            process.count(catalog.FAULTS, "deadline")
            process.answers.append((0.0, 0.0))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        taken.append(process.take())
    taken.append(process.take())

    for series in (MetricSeries("referee_faults", ("deadline",)), MetricSeries("referee_decisions", ("bot",))):
        assert sum(found.get(series, 0) for found in taken) == 8_000


def test_a_total_counts_from_the_moment_it_is_followed() -> None:
    process, total = ProcessMetrics(), [7.0]
    process.follow(catalog.RUNNER_CPU, lambda: total[0])

    total[0] = 9.5

    assert process.take() == {MetricSeries("referee_runner_cpu_seconds"): 2.5}
    assert process.take() == {MetricSeries("referee_runner_cpu_seconds"): 0}


def test_states_of_processes_are_summed_until_they_end_or_die(redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    senders = []
    for streams in (3, 4, 5):
        process = ProcessMetrics()
        process.report("referee_streams", partial(float, streams))
        senders.append(Sender(process, shared.connect(redis_url)))
        senders[-1].send()
    assert shared.read_states(redis) == {"processes": 3, "referee_streams": 12}

    senders[0].start()
    senders[0].stop()
    died = next(iter(redis.hgetall("referee:metrics:states")))
    old = json.loads(redis.hget("referee:metrics:states", died) or b"")
    redis.hset("referee:metrics:states", died, json.dumps({**old, "at": time.time() - 60}))

    redis.config_set("min-replicas-to-write", "1")
    refused = shared.read_states(redis)
    redis.config_set("min-replicas-to-write", "0")
    left = shared.read_states(redis)

    assert refused == left
    assert left["processes"] == 1
    assert left["referee_streams"] == 9 - old["referee_streams"]
    assert redis.hlen("referee:metrics:states") == 1
