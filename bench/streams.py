"""Measure the delay and cost of stream messages, for many viewers of a tournament or match in one API process.

The viewers run in another process. Meanwhile a thread of this process sends other requests.
"""

import multiprocessing
import re
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from random import Random
from typing import Final

from bench.measure import Benchmark, Json, run, significant
from bench.processes import cpu_of, get, memory_mib, start_api, start_redis
from bench.world import World, add_match, add_result, new_world
from referee.db.change_notifier import ChangeNotifier
from referee.match.log import PublicView
from referee.match.match import Answer
from referee.matches.logs.recording import MatchUpdate, record_batch
from workers import queues

BOTS, SEATS, MATCHES_PER_BOT = 40, 4, 5
RATE: Final = 4.0  # changes per second
THREADS: Final = 16  # threads of the API process: far fewer than viewers
PROBE_S: Final = 0.02  # pause between two other requests
LATE_S: Final = 10.0  # messages that arrive later than this after the last change count as lost
MAX_NUMBER_BYTES: Final = 64  # longest text around a number, which may be split between two reads


@dataclass(frozen=True, slots=True)
class Watched:
    """Describe a stream that viewers watch.

    ``change`` commits a change and returns the numbers of the messages that report it. ``number`` is the pattern of
    these numbers in the stream. ``ready`` occurs in the last message that a new viewer receives before any change.
    """

    path: str
    ready: bytes
    number: bytes
    change: Callable[[], list[int]]


def measure(benchmark: Benchmark) -> Json:
    figures: Json = {}
    for name, watch in (("a tournament", watch_tournament), ("a match", watch_match)):
        for viewers in benchmark.options.viewers or ([8] if benchmark.quick else [200, 2000]):
            benchmark.note(f"{viewers} viewers of {name}")
            with new_world() as world, start_redis(world.settings.data_dir) as redis_url:
                watched = watch(world, ChangeNotifier(queues.connect(redis_url)))
                with start_api(world, redis_url, THREADS) as (port, pid):
                    figures[f"{viewers} viewers of {name}"] = measure_viewers(
                        watched, viewers, port, pid, benchmark.size(15, 1)
                    )
    return figures


def measure_viewers(watched: Watched, viewers: int, port: int, api_pid: int, window_s: float) -> Json:
    with start_viewers(watched, viewers, port) as pipe:
        quiet = probe(port, window_s / 3)
        cpu, start = cpu_of(api_pid), time.monotonic()
        with probe_meanwhile(port) as busy:
            committed = change_repeatedly(watched, window_s)
        cpu, elapsed_s = cpu_of(api_pid) - cpu, time.monotonic() - start
        memory = memory_mib(api_pid)
        pipe.send(list(committed))
        received: list[tuple[int, float]] = pipe.recv()
    delays = [moment - committed[number] for number, moment in received]
    return {
        "changes": len(committed),
        "messages received": f"{len(received)} of {len(committed) * viewers}",
        "from commit to viewer, p50 ms": percentile_ms(delays, 0.5),
        "from commit to viewer, p99 ms": percentile_ms(delays, 0.99),
        "CPU us per change and viewer": significant(1e6 * cpu / len(received)),
        "share of a core": significant(cpu / elapsed_s),
        "other requests, p50 ms": percentile_ms(busy, 0.5),
        "other requests, p99 ms": percentile_ms(busy, 0.99),
        "the same before the changes, p99 ms": percentile_ms(quiet, 0.99),
        **memory,
    }


def percentile_ms(seconds: list[float], share: float) -> float:
    return significant(1000 * sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))])


def change_repeatedly(watched: Watched, seconds: float) -> dict[int, float]:
    """Commit changes for this many seconds. Return the times of the commits, keyed by message number."""
    committed: dict[int, float] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        committed |= dict.fromkeys(watched.change(), time.monotonic())
        time.sleep(1 / RATE)
    return committed


def probe(port: int, seconds: float) -> list[float]:
    """Send requests for another page for this many seconds. Return the duration of each in seconds."""
    took, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        get(port, "/api/v1/bots?limit=10")
        took.append(time.monotonic() - start)
        time.sleep(PROBE_S)
    return took


@contextmanager
def probe_meanwhile(port: int) -> Iterator[list[float]]:
    """Call ``probe`` in a thread while the block runs. The yielded list of durations is complete after the block."""
    took: list[float] = []
    stopped = threading.Event()

    def probe_until_stopped() -> None:
        while not stopped.is_set():
            took.extend(probe(port, 0.2))

    thread = threading.Thread(target=probe_until_stopped)
    thread.start()
    try:
        yield took
    finally:
        stopped.set()
        thread.join()


# -- streams --


def watch_tournament(world: World, notifier: ChangeNotifier) -> Watched:
    """Return the stream of a tournament in which each change finishes a match."""
    bots, dice = world.add_bots(BOTS), Random(3)
    tournament_id = world.add_tournament(bots, SEATS, MATCHES_PER_BOT)

    def finish_match() -> list[int]:
        table = dice.sample(bots, SEATS)
        with world.database.write() as session:
            seq = add_result(session, add_match(session, table, tournament_id), table, range(1, SEATS + 1))
        notifier.notify()
        return [seq]

    path = f"/api/v1/tournaments/{tournament_id}/stream"
    return Watched(path, b"event: standings", rb"event: match\nid: (\d+)\n", finish_match)


def watch_match(world: World, _: ChangeNotifier) -> Watched:
    """Return the stream of a friendly match of which each change records rows. The match does not end meanwhile."""
    bots = world.add_bots(SEATS)
    (claim,) = world.claim_matches("pool-nap", bots, 1, rated=False)
    match = world.begin_match(claim)
    view, recorded = PublicView(match.log.rows[0]), 0

    def record_rows() -> list[int]:
        nonlocal recorded
        items: list[Json] = []
        while not items:
            match.receive(Answer(match.requests()[0].seat, choice=0))
            start, recorded = recorded, len(match.lines)
            items = view.add(match.log.rows[start:])
            with world.database.write() as session:
                record_batch(session, [MatchUpdate(claim.match_id, claim.epoch, start, match.lines[start:])])
        return [item["number"] for item in items]

    return Watched(f"/api/v1/matches/{claim.match_id}/stream", b"event: state", rb'"number":(\d+),"event"', record_rows)


# -- viewers, in another process --


@contextmanager
def start_viewers(watched: Watched, viewers: int, port: int) -> Iterator[Connection]:
    """Connect viewers. Send the numbers to wait for through the yielded pipe; it returns (number, time) pairs."""
    # Not "fork": the change notifiers of earlier measurements are threads of this process.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    arguments = (port, watched.path, watched.ready, watched.number, viewers, theirs)
    of_module = import_module("bench.streams")  # which the process can import even if it runs as a program here
    process = context.Process(target=of_module.run_viewers, args=arguments)
    process.start()
    ours.recv()  # all are connected
    yield ours
    process.join()


def run_viewers(port: int, path: str, ready: bytes, number: bytes, viewers: int, parent: Connection) -> None:
    """Open streams, report when all are ready, then read messages. ``start_viewers`` runs this in another process."""
    selector = selectors.DefaultSelector()
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    for _ in range(viewers):
        viewer = socket.create_connection(("127.0.0.1", port), timeout=20)
        viewer.sendall(request)
        received = b""
        while ready not in received:
            received += viewer.recv(65536)
        viewer.setblocking(False)
        selector.register(viewer, selectors.EVENT_READ, bytearray())
    parent.send("ready")
    pattern = re.compile(number)
    arrived: list[tuple[int, float]] = []
    expected: set[int] | None = None
    end = float("inf")
    while time.monotonic() < end and (expected is None or len(arrived) < viewers * len(expected)):
        for key, _ in selector.select(0.2):
            moment, piece = time.monotonic(), key.fileobj.recv(1 << 18)  # type: ignore[union-attr]  # a socket
            arrived += [(found, moment) for found in find_numbers(pattern, key.data, piece)]
        if expected is None and parent.poll():
            expected, end = set(parent.recv()), time.monotonic() + LATE_S
        if expected is not None:
            arrived = [(found, moment) for found, moment in arrived if found in expected]
    parent.send(arrived)


def find_numbers(pattern: re.Pattern[bytes], rest: bytearray, piece: bytes) -> list[int]:
    """Return the numbers in a piece of a stream. Keep in ``rest`` what may be the beginning of another number."""
    text, end, found = bytes(rest) + piece, 0, []
    for match in pattern.finditer(text):
        found.append(int(match[1]))
        end = match.end()
    rest[:] = text[end:][-MAX_NUMBER_BYTES:]
    return found


if __name__ == "__main__":
    viewers = {"type": int, "nargs": "*", "help": "Numbers of viewers, one run each."}
    run("streams", "viewers in one process of the API", measure, viewers=viewers)
