"""Viewers of one event in one process of the API: how long after its commit each is told of a match, and the cost."""

import multiprocessing
import random
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from http.client import HTTPConnection
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from bench.api import GAME, SEATS, START_AT, enlisted, played, rows
from bench.matches import redis_server
from bench.measure import Benchmark, Json, children_of, cpu_of, memory_mib, rounded
from bench.world import World, world
from referee import live
from referee.clocks import Limits
from referee.store import schema
from referee.store.ids import new_id
from workers import queues

BOTS: Final = 40
RATE: Final = 4.0  # matches a second
THREADS: Final = 16  # far fewer than viewers
PROBE_S: Final = 0.02


def main() -> None:
    benchmark = Benchmark.from_command_line(
        "streams",
        "viewers of one event in one process of the API",
        viewers={"type": int, "nargs": "*", "help": "how many, one run each"},
    )
    sizes = benchmark.given.viewers or ([8] if benchmark.quick else [200, 2000])
    window_s = benchmark.size(15, 1)
    figures = {f"{count} viewers": of_size(benchmark, count, window_s) for count in sizes}
    benchmark.report(figures)


def of_size(benchmark: Benchmark, count: int, window_s: float) -> Json:
    benchmark.note(f"{count} viewers")
    with world() as place, redis_server(place.settings.data_dir) as redis_url:
        with place.database.write() as session:
            bots = enlisted(session, BOTS)
            tournament_id = played(session, bots)
        path = f"/api/v1/tournaments/{tournament_id}/events"
        with api(place, redis_url) as (port, pid):
            ours, theirs = multiprocessing.get_context("fork").Pipe()
            viewers = multiprocessing.get_context("fork").Process(target=watch, args=(port, path, count, theirs))
            viewers.start()
            ours.recv()  # all have the table
            quiet = asked(port, window_s / 3)
            cpu, began = cpu_of(pid), time.monotonic()
            with probing(port) as busy:
                committed = writing(place, live.Announcer(queues.connect(redis_url)), tournament_id, bots, window_s)
            spent, took = cpu_of(pid) - cpu, time.monotonic() - began
            memory = memory_mib(pid)
            ours.send(list(committed))
            told: list[tuple[int, float]] = ours.recv()
            viewers.join()
        delays = sorted(moment - committed[seq] for seq, moment in told)
        return {
            "matches": len(committed),
            "told": f"{len(told)} of {len(committed) * count}",
            "from commit to viewer, p50 ms": ms(delays, 0.5),
            "from commit to viewer, p99 ms": ms(delays, 0.99),
            "CPU us a match and viewer": rounded(1e6 * spent / len(told)),
            "share of a core": rounded(spent / took),
            "other requests, p50 ms": ms(busy, 0.5),
            "other requests, p99 ms": ms(busy, 0.99),
            "the same before, p99 ms": ms(quiet, 0.99),
            **memory,
        }


def ms(seconds: list[float], share: float) -> float:
    return rounded(1000 * sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))])


# -- the service --


@contextmanager
def api(place: World, redis_url: str) -> Iterator[tuple[int, int]]:
    """gunicorn with one worker; its port and the worker's process."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        port = int(listener.getsockname()[1])
        environment = place.environment(
            REDIS_URL=redis_url, REFEREE_STREAMS="20000", REFEREE_STREAMS_PER_ADDRESS="20000", REFEREE_RATE_LIMITS="0"
        )
        command = [sys.executable, "-m", "gunicorn", "api.wsgi:app", "--bind", f"fd://{listener.fileno()}"]
        options = [
            "--worker-class",
            "gthread",
            "--threads",
            str(THREADS),
            "--no-control-socket",
            "--log-level",
            "error",
        ]
        process = subprocess.Popen(
            command + options, env=environment, pass_fds=[listener.fileno()], cwd=Path(__file__).parents[1]
        )
        try:
            get(port, "/readyz")
            yield port, children_of(process.pid)[0]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def get(port: int, path: str) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status}")


def asked(port: int, seconds: float) -> list[float]:
    """How long each of many requests took."""
    found, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        get(port, "/api/v1/bots?limit=10")
        found.append(time.monotonic() - began)
        time.sleep(PROBE_S)
    return found


@contextmanager
def probing(port: int) -> Iterator[list[float]]:
    """Asks something else meanwhile."""
    found: list[float] = []
    stopped = threading.Event()

    def probe() -> None:
        while not stopped.is_set():
            found.extend(asked(port, 0.2))

    thread = threading.Thread(target=probe)
    thread.start()
    try:
        yield found
    finally:
        stopped.set()
        thread.join()


# -- matches --


def writing(
    place: World, announcer: live.Announcer, tournament_id: str, bots: list[str], seconds: float
) -> dict[int, float]:
    """Lets matches end, and gives the moment at which each was committed by its number."""
    dice, committed = random.Random(3), {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        seq = ended(place, tournament_id, dice.sample(bots, SEATS))
        committed[seq] = time.monotonic()
        announcer.say()
        time.sleep(1 / RATE)
    return committed


def ended(place: World, tournament_id: str, table: list[str]) -> int:
    match_id, group_id = new_id("mat"), new_id("grp")
    facts = {"game": GAME, "options": {}, "seats": SEATS, "rated": True, **asdict(Limits()), "created_at": START_AT}
    group = {"id": group_id, "commitment": "0" * 64, "seed_sealed": b"", "state": "over", "entries": table}
    match = {"id": match_id, "group_id": group_id, "rules_version": 1, "engine_version": "0", "status": "finished"}
    with place.database.write() as session:
        rows(session, schema.Group, [{**group, "tournament_id": tournament_id, "created_at": START_AT}])
        rows(session, schema.Match, [{**facts, **match, "tournament_id": tournament_id, "stage": 1, "table_no": 1}])
        result = schema.Result(
            match_id=match_id,
            bots=table,
            entrants=table,
            rated=[True] * SEATS,
            placements=list(range(1, SEATS + 1)),
            returns=[0] * SEATS,
            scores=[0] * SEATS,
            digest="0" * 64,
            engine_version="0",
            finished_at=START_AT,
        )
        session.add(result)
        session.flush()
        return result.seq


# -- viewers, in a process of their own --


def watch(port: int, path: str, count: int, parent: Connection) -> None:
    """Opens so many streams; says when all have the table; told which matches there were, reports when each came."""
    selector = selectors.DefaultSelector()
    told: list[tuple[int, float]] = []
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    for _ in range(count):
        viewer = socket.create_connection(("127.0.0.1", port), timeout=20)
        viewer.sendall(request)
        received = b""
        while b"event: standings" not in received:
            received += viewer.recv(65536)
        viewer.setblocking(False)
        selector.register(viewer, selectors.EVENT_READ)
    parent.send("ready")
    wanted: set[int] | None = None
    end = float("inf")
    while time.monotonic() < end and (wanted is None or len(told) < count * len(wanted)):
        for ready, _ in selector.select(0.2):
            moment, received = time.monotonic(), ready.fileobj.recv(1 << 18)  # type: ignore[union-attr]  # a socket
            told += [(seq, moment) for seq in numbers(received)]
        if wanted is None and parent.poll():
            wanted, end = set(parent.recv()), time.monotonic() + 10
    parent.send([(seq, moment) for seq, moment in told if wanted and seq in wanted])


def numbers(received: bytes) -> list[int]:
    """The matches told in this piece."""
    parts = received.split(b"event: match\nid: ")[1:]
    return [int(part[: part.index(b"\n")]) for part in parts]


if __name__ == "__main__":
    main()
