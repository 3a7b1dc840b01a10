"""Measure what open pages of a ladder and of the service cost one process of the API.

Their scripts request them again after each period, with If-None-Match. As behind nginx, each request has a connection
of its own. Meanwhile matches of the ladder end.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Final

from bench.measure import Benchmark, Json, run, significant
from bench.processes import cpu_of, start_api, start_redis
from bench.streams import percentile_ms
from bench.world import add_played, new_world

BOTS, RESULTS = 200, 400
THREADS: Final = 32  # threads of the API process
CLIENTS: Final = 16
PERIOD_S: Final = 35.0  # the mean of that in renewal.js
CHANGE_S: Final = 10.0  # between two results of the ladder
HEADERS: Final = {"Accept": "text/html", "Accept-Encoding": "gzip", "Connection": "close"}
LIMITS: Final = {"REFEREE_RATE_LIMITS": "1", "REFEREE_ADDRESS_REQUESTS": "1000000"}  # counted, never reached


class OpenPages:
    """Hold the ETag of each open page of one path."""

    def __init__(self, port: int, path: str, pages: int) -> None:
        self._port, self._path = port, path
        self.etags = [""] * pages
        self.renew(0)
        self.etags = self.etags[:1] * pages

    def renew(self, page: int) -> tuple[int, float]:
        """Request a page again. Return the status and the duration in seconds."""
        start = time.monotonic()
        connection = HTTPConnection("127.0.0.1", self._port, timeout=20)
        connection.request("GET", self._path, headers={**HEADERS, "If-None-Match": self.etags[page]})
        response = connection.getresponse()
        response.read()
        connection.close()
        if response.status not in (200, 304):
            raise RuntimeError(f"{self._path}: {response.status}")
        self.etags[page] = response.headers["ETag"]
        return response.status, time.monotonic() - start


def measure(benchmark: Benchmark) -> Json:
    figures: Json = {}
    pages, period_s = benchmark.options.pages, benchmark.options.period
    if benchmark.quick:
        pages, period_s = 20, 1.0
    with new_world() as world, start_redis(world.settings.data_dir) as redis_url:
        bots, seq = world.add_bots(BOTS), RESULTS
        ladder_id = world.add_ladder(bots, 2)
        world.add_results(ladder_id, bots, RESULTS)

        def end_match() -> None:
            nonlocal seq
            with world.database.write() as session:
                add_played(session, ladder_id, [(bots[seq % BOTS], bots[(seq + 7) % BOTS])], seq)
            seq += 1

        with start_api(world, redis_url, THREADS, **LIMITS) as (port, pid):
            for name, path in {"a ladder": f"/ladders/{ladder_id}", "the home page": "/"}.items():
                benchmark.note(f"{pages} open pages of {name}, each requested every {period_s:g} s")
                with repeat(end_match, CHANGE_S):
                    figures[name] = measure_pages(OpenPages(port, path, pages), pid, period_s)
    return figures


def measure_pages(pages: OpenPages, api_pid: int, period_s: float) -> Json:
    """Request all pages once, evenly spread over the period."""
    count, cpu, start = len(pages.etags), cpu_of(api_pid), time.monotonic()

    def renew_in_time(page: int) -> tuple[int, float]:
        time.sleep(max(0.0, start + page * period_s / count - time.monotonic()))
        return pages.renew(page)

    with ThreadPoolExecutor(CLIENTS) as clients:
        statuses, took = zip(*clients.map(renew_in_time, range(count)), strict=True)
    cpu, elapsed_s = cpu_of(api_pid) - cpu, time.monotonic() - start
    return {
        "requests per second": significant(count / elapsed_s),
        "unchanged (304)": f"{statuses.count(304)} of {count}",
        "CPU us each": significant(1e6 * cpu / count),
        "share of a core": significant(cpu / elapsed_s),
        "p50 ms": percentile_ms(list(took), 0.5),
        "p99 ms": percentile_ms(list(took), 0.99),
    }


@contextmanager
def repeat(work: Callable[[], None], interval_s: float) -> Iterator[None]:
    """Call ``work`` in a thread after each interval while the block runs."""
    ended = threading.Event()

    def run_until_ended() -> None:
        while not ended.wait(interval_s):
            work()

    thread = threading.Thread(target=run_until_ended)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    pages = {"type": int, "default": 2000, "help": "Number of open pages of each kind."}
    period = {"type": float, "default": PERIOD_S, "help": "Seconds between two requests of a page."}
    run("open_pages", "open pages that are requested again and again", measure, pages=pages, period=period)
