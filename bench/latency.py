"""Measure how long people and bots wait for the database and the queue, and how often a match uses the database.

The whole service runs: API under gunicorn, Redis, a worker. The figures of one match alone and of recorded decisions
come from a runner in this process.
"""

import asyncio
import json
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any, Final

from sqlalchemy import event

from bench.bots import start_bots
from bench.measure import Benchmark, Json, run, significant
from bench.processes import children_of, start_api, start_redis, start_worker, wait_until
from bench.world import World, new_world, slots_for
from referee.accounts import accounts
from referee.accounts.roles import Role
from referee.matches.logs.recording import MatchUpdate
from workers.database_thread import DatabaseThread
from workers.runner import Runner

GAME, SEATS = "saint-poker", 2
CONCURRENCY: Final = 16
LOOK_S: Final = 0.002  # between two requests for the log


def measure(benchmark: Benchmark) -> Json:
    with start_bots() as bots:
        return {
            "from POST to the log, idle service": measure_service(benchmark, bots.url),
            "a match alone": measure_match_alone(bots.url),
            f"recorded decisions, {CONCURRENCY} concurrent matches": measure_records(benchmark, bots.url),
        }


def measure_service(benchmark: Benchmark, url: str) -> Json:
    """Measure the wall time from the request for a friendly of two instant bots to its complete log."""
    with (
        new_world(runner_slots=slots_for(CONCURRENCY)) as world,
        start_redis(world.settings.data_dir) as redis_url,
        start_api(world, redis_url, threads=4) as (port, _),
        start_worker(world, redis_url) as worker,
    ):
        bot_ids = world.add_certified_bots(url, SEATS)
        with world.database.write() as session:
            account = accounts.create_account(session, "bench", Role.ORGANISER)
            _, token = accounts.create_token(session, account.id, "bench")
        waits = []
        for number in range(benchmark.size(20, 1) + 1):  # the first loads modules and statements
            wait_until(lambda: not children_of(worker.pid))  # the runner of the last match has ended
            benchmark.note(f"match {number} from POST to its log")
            waits.append(measure_match(port, token, bot_ids))
    return spread(waits[1:])


def measure_match(port: int, token: str, bot_ids: list[str]) -> float:
    start = time.perf_counter()
    match_id = call(port, "POST", "/api/v1/matches", {"game": GAME, "bots": bot_ids, "rated": False}, token)["id"]
    while call(port, "GET", f"/api/v1/matches/{match_id}/log", None, token) is None:
        time.sleep(LOOK_S)
    return time.perf_counter() - start


def call(port: int, method: str, path: str, body: Json | None, token: str = "") -> Any:
    """Return the JSON of a successful response, the body of a log, or None while there is no log."""
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    if response.status in (404, 409):
        return None
    if response.status >= 400:
        raise RuntimeError(f"{method} {path}: {response.status} {content.decode()}")
    return content if path.endswith("/log") else json.loads(content)


def measure_match_alone(url: str) -> Json:
    """Count the statements and transactions of one match on SQLite, from claim to result."""
    with new_world(runner_slots=1) as world:
        bot_ids = world.add_certified_bots(url, SEATS)
        world.add_due_matches(GAME, bot_ids, 1)
        play(world)  # compiles the statements
        world.add_due_matches(GAME, bot_ids, 1)
        world.database.dispose()
        with counting_statements(world) as executed:
            play(world)
        statements = [text for text in executed if not text.startswith(("BEGIN", "COMMIT", "PRAGMA"))]
        commits = sum(text.startswith("COMMIT") for text in executed)
        writes = sum(text.startswith("BEGIN IMMEDIATE") for text in executed)
    return {"statements": len(statements), "transactions": commits, "of them writing": writes}


@contextmanager
def counting_statements(world: World) -> Iterator[list[str]]:
    """Collect every statement that connections opened from now on execute."""
    executed: list[str] = []
    engine = world.database._engine

    def trace(connection: Any, _: Any) -> None:
        connection.set_trace_callback(executed.append)

    event.listen(engine, "connect", trace)
    try:
        yield executed
    finally:
        event.remove(engine, "connect", trace)


def play(world: World) -> None:
    asyncio.run(Runner(world.settings, world.database).run())


def measure_records(benchmark: Benchmark, url: str) -> Json:
    """Measure the wall time from an answer to its commit."""
    waits: list[float] = []
    record = DatabaseThread.record

    async def timed_record(self: DatabaseThread, update: MatchUpdate) -> None:
        start = time.perf_counter()
        await record(self, update)
        waits.append(time.perf_counter() - start)

    DatabaseThread.record = timed_record  # type: ignore[method-assign]
    try:
        with new_world(runner_slots=slots_for(CONCURRENCY)) as world:
            bot_ids = world.add_certified_bots(url, SEATS)
            world.add_due_matches(GAME, bot_ids, benchmark.size(96, 1))
            play(world)
    finally:
        DatabaseThread.record = record  # type: ignore[method-assign]
    return spread(waits)


def spread(seconds: list[float]) -> Json:
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
    return {"median ms": significant(1000 * statistics.median(ordered)), "p99 ms": significant(1000 * p99)}


if __name__ == "__main__":
    run("latency", "waits for the database and the queue, and statements per match", measure)
