"""Measure how many pages of standings and ladders the whole application serves per CPU second, under Flask's test
client."""

import json
from typing import Any, Final

from api import create_app
from bench.measure import Benchmark, Json, cpu_ms, per_cpu_second, run, significant, time_of
from bench.world import World, new_world

SEATS: Final = 4
MATCHES_PER_BOT: Final = 5
RUN_S: Final = 0.3  # CPU seconds per run


def measure(benchmark: Benchmark) -> Json:
    figures: Json = {}
    for bots in (8,) if benchmark.quick else (100, 10_000):
        benchmark.note(f"{bots} bots")
        with new_world() as world:
            figures[f"{bots} bots"] = measure_pages(benchmark, world, bots)
    return figures


def measure_pages(benchmark: Benchmark, world: World, bots: int) -> Json:
    bot_ids = world.add_bots(bots)
    ladder = f"/api/v1/ladders/{world.add_ladder(bot_ids, SEATS)}?limit=50"
    standings = f"/api/v1/tournaments/{world.add_tournament(bot_ids, SEATS, MATCHES_PER_BOT)}/standings"
    app = create_app(world.settings)
    app.extensions["referee.database"].dispose()
    app.extensions["referee.database"] = world.database
    client = app.test_client()
    figures: Json = {"the standings recomputed, CPU ms": cpu_ms(lambda: get(client, standings))}
    pages = {
        "first page of a ladder": ladder,
        "middle page of a ladder": middle_page(client, ladder, bots // 2),
        "first page of standings": f"{standings}?limit=50",
        "middle page of standings": middle_page(client, f"{standings}?limit=50", bots // 2),
        "a bot's own row in them": f"{standings}/{bot_ids[0]}",
    }
    return figures | {name: measure_page(benchmark, client, path) for name, path in pages.items()}


def measure_page(benchmark: Benchmark, client: Any, path: str) -> Json:
    size = len(get(client, path))
    times = benchmark.size(max(1, min(40, int(RUN_S / time_of(lambda: get(client, path)).cpu))), 1)
    benchmark.note(f"{times} times {path.partition('?')[0]}")

    def get_repeatedly() -> None:
        for _ in range(times):
            get(client, path)

    rate = per_cpu_second(times, get_repeatedly, benchmark.runs)
    return {"per CPU second": significant(rate), "CPU us each": significant(1e6 / rate), "bytes": size}


def get(client: Any, path: str) -> bytes:
    response = client.get(path)
    if response.status_code != 200:
        raise RuntimeError(f"{path}: {response.status_code} {response.text}")
    body: bytes = response.data
    return body


def middle_page(client: Any, path: str, rank: int) -> str:
    """Return the path of the page that begins near this rank. Follow the cursors of the pages before it."""
    page = path
    for _ in range(rank // 50):
        page = f"{path}&cursor={json.loads(get(client, page))['next']}"
    return page


if __name__ == "__main__":
    run("api", "pages of ladders and standings per CPU second", measure)
