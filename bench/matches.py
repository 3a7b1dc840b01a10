"""Measure matches per second and memory of one worker on a real queue. Its bots answer after 20 ms.

The limit is the rate if nothing but the bots took time: (concurrent matches) / (20 ms × decision points per match).
Decisions are counted for some seconds while all of them are in progress.
"""

import time
from random import Random
from typing import Final

from redis import Redis
from sqlalchemy import func, select

from bench.bots import Bots, start_bots
from bench.measure import Benchmark, Json, run, significant
from bench.playouts import SEED, answer_all, begin_match
from bench.processes import children_of, cpu_of, memory_mib, start_redis, start_worker, wait_until
from bench.world import World, new_world, slots_for
from referee import schema
from workers import queues

DELAY_MS: Final = 20
GAME, SEATS = "saint-poker", 2
CONCURRENCY: Final = (1, 32, 100)
SAMPLE_S: Final = 0.2


def measure(benchmark: Benchmark) -> Json:
    figures: Json = {"game": f"{GAME} ({SEATS} seats)"}
    for concurrent in (5,) if benchmark.quick else CONCURRENCY:
        benchmark.note(f"{concurrent} concurrent matches")
        figures[f"{concurrent} concurrent"] = measure_worker(concurrent, 0.5 if benchmark.quick else 10.0)
    return figures


def measure_worker(concurrent: int, window_s: float) -> Json:
    points, calls = mean_decisions()
    limit = concurrent * 1000 / (points * DELAY_MS)
    with (
        start_bots(DELAY_MS) as bots,
        new_world(runner_slots=slots_for(concurrent)) as world,
        start_redis(world.settings.data_dir) as redis_url,
    ):
        bot_ids = world.add_certified_bots(bots.url, SEATS)
        world.add_due_matches(GAME, bot_ids, int(concurrent * 3 + limit * window_s))
        with start_worker(world, redis_url) as process:
            queues.wake(Redis.from_url(redis_url))
            wait_until(lambda: count_matches(world, "running") == concurrent)
            wait_until(lambda: count_matches(world, "finished") >= concurrent)
            observed = observe_worker(world, process.pid, bots, window_s)
    rate = observed["decisions per second"] / calls
    rates = {"matches per second": rate, "limit": limit, "share of the limit": rate / limit}
    return {name: significant(value) for name, value in rates.items()} | observed


def mean_decisions() -> tuple[float, float]:
    """Return the mean numbers of decision points and of calls per match, over 20 random matches."""
    points = calls = 0
    dice, matches = Random(1), 20
    for number in range(matches):
        match = begin_match(GAME, SEATS, bytes([number]) + SEED[1:])
        while not match.over:
            points, calls = points + 1, calls + answer_all(match, dice)
    return points / matches, calls / matches


def observe_worker(world: World, worker_pid: int, bots: Bots, window_s: float) -> Json:
    """Return the rates and the memory of a worker and its work-horse during ``window_s`` seconds."""
    (horse_pid,) = children_of(worker_pid)
    start, calls, cpu, running = time.monotonic(), bots.decisions(), cpu_of(horse_pid), []
    while time.monotonic() < start + window_s:
        time.sleep(SAMPLE_S)
        running.append(count_matches(world, "running"))
    calls, cpu, elapsed_s = bots.decisions() - calls, cpu_of(horse_pid) - cpu, time.monotonic() - start
    return {
        "decisions per second": significant(calls / elapsed_s),
        "fewest running matches in a sample": min(running),
        "CPU seconds per second": significant(cpu / elapsed_s),
        "CPU us per decision": significant(1e6 * cpu / calls),
        "worker": memory_mib(worker_pid),
        "work-horse": memory_mib(horse_pid),
    }


def count_matches(world: World, status: str) -> int:
    query = select(func.count()).where(schema.StoredMatch.status == status)
    with world.database.read() as session:
        return session.scalars(query).one()


if __name__ == "__main__":
    run("matches", f"matches per second with bots that answer after {DELAY_MS} ms", measure)
