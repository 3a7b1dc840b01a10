"""Measure ordinary requests to the API process under gunicorn, sent one after the other and by several clients."""

import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from itertools import chain
from typing import Final

from bench.measure import Benchmark, Json, run, significant
from bench.processes import cpu_of, start_api, start_redis
from bench.streams import percentile_ms
from bench.world import new_world

BOTS: Final = 40
THREADS: Final = 16  # threads of the API process
RUN_S, QUICK_S, WARM_UP_S = 4.0, 0.2, 0.5
CLIENTS: Final = (1, 8)
PATHS: Final = {
    "a health check": "/healthz",
    "a page of ten bots": "/api/v1/bots?limit=10",
    "a file of 1.7 MB": "/static/swagger-ui/swagger-ui-bundle.js",
}


def measure(benchmark: Benchmark) -> Json:
    figures: Json = {}
    seconds = QUICK_S if benchmark.quick else RUN_S
    with new_world() as world, start_redis(world.settings.data_dir) as redis_url:
        world.add_bots(BOTS)
        with start_api(world, redis_url, THREADS) as (port, pid):
            for name, path in PATHS.items():
                benchmark.note(name)
                send_requests(port, path, max(CLIENTS), WARM_UP_S)
                for clients in CLIENTS:
                    figures[f"{name}, clients: {clients}"] = measure_requests(port, pid, path, clients, seconds)
    return figures


def measure_requests(port: int, api_pid: int, path: str, clients: int, seconds: float) -> Json:
    cpu = cpu_of(api_pid)
    took = send_requests(port, path, clients, seconds)
    cpu = cpu_of(api_pid) - cpu
    return {
        "requests per second": significant(len(took) / seconds),
        "CPU us each": significant(1e6 * cpu / len(took)),
        "p50 ms": percentile_ms(took, 0.5),
        "p99 ms": percentile_ms(took, 0.99),
    }


def send_requests(port: int, path: str, clients: int, seconds: float) -> list[float]:
    """Send requests for this many seconds, each client over one connection. Return their durations in seconds."""
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(clients) as threads:
        return list(chain.from_iterable(threads.map(lambda _: send_until(port, path, end), range(clients))))


def send_until(port: int, path: str, end: float) -> list[float]:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    took: list[float] = []
    while (start := time.monotonic()) < end:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        if response.status != 200:
            raise RuntimeError(f"{path}: {response.status}")
        took.append(time.monotonic() - start)
    connection.close()
    return took


if __name__ == "__main__":
    run("requests", "ordinary requests to one process of the API", measure)
