"""Measure how soon a bot gets a rating on an empty service, by the clock and at the pace that ships.

The whole service runs as ``referee up`` starts it. The starter bot is registered; nobody else is there.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench.measure import Benchmark, Json, run, significant
from bench.processes import ROOT, start_process, wait_until
from referee.cli import tables
from referee.cli.service.api_client import Api

WANTED_ERROR: Final = 80.0  # points
LOOK_S: Final = 1.0
PATIENCE_S: Final = 600.0
URL: Final = re.compile(r"http://127\.0\.0\.1:\d+")


def measure(benchmark: Benchmark) -> Json:
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(ROOT / "bots" / "python" / "bot.py", folder)
        allowed = {"REFEREE_EGRESS_ALLOW": "127.0.0.1/32:1024-65535"}
        with (
            start_and_read_url([sys.executable, str(folder / "bot.py"), "0"], folder / "bot.log", {}) as bot_url,
            start_and_read_url(
                [sys.executable, "-m", "referee", "up", "--port", "0", "--data", str(folder / "data")],
                folder / "service.log",
                allowed,
            ) as service_url,
        ):
            return observe(benchmark, service_url, bot_url, folder / "secret.txt")


@contextmanager
def start_and_read_url(command: list[str], log: Path, settings: dict[str, str]) -> Iterator[str]:
    """Run a command while the block runs. Yield the first URL on this host that it prints."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("REFEREE_")}
    ours = {name: value for name, value in ours.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment = {**ours, "PYTHONUNBUFFERED": "1", **settings}
    with log.open("wb") as output, start_process(command, env=environment, stdout=output, stderr=output):
        wait_until(lambda: URL.search(log.read_text()) is not None)
        yield URL.findall(log.read_text())[0]


def observe(benchmark: Benchmark, service_url: str, bot_url: str, secret_file: Path) -> Json:
    """Register the bot, and note when its check, its first rating and its errors come, in seconds from then on."""
    with Api(service_url) as anybody:
        token = anybody.post("/accounts", {"name": "Ada"})["token"]["token"]
        with Api(service_url, token) as owner:
            bot = owner.post("/bots", {"name": "Newcomer", "url": bot_url})
        secret_file.write_text(bot["secret"])
        start = time.monotonic()
        certified_s = wait_for(start, lambda: anybody.get(f"/bots/{bot['id']}")["certified"])
        if benchmark.quick:
            return {"certified s": certified_s}
        ladders = [ladder for ladder in anybody.items("/ladders") if ladder["official"]]
        first_s = wait_for(start, lambda: rows_of(anybody, ladders, bot["id"]))
        reached: Json = {}
        while (now := time.monotonic() - start) < PATIENCE_S:
            rows = rows_of(anybody, ladders, bot["id"])
            benchmark.note(f"{now:.0f} s: {', '.join(map(describe, rows.values())) or 'no rating'}")
            for game, row in rows.items():
                if row["rating_error"] is not None and row["rating_error"] <= WANTED_ERROR:
                    reached.setdefault(f"{game}, error of {WANTED_ERROR:.0f} points s", significant(now))
            time.sleep(15 * LOOK_S)
        last = rows_of(anybody, ladders, bot["id"])
        after = {game: describe(row) for game, row in last.items()}
        return {"certified s": certified_s, "first rank s": first_s, **reached, f"after {PATIENCE_S:.0f} s": after}


def rows_of(anybody: Api, ladders: list[Json], bot_id: str) -> dict[str, Json]:
    """Return the rows of the bot, by game."""
    shown = ((ladder["game"], anybody.get(f"/ladders/{ladder['id']}")["items"]) for ladder in ladders)
    return {game: row for game, rows in shown for row in rows if row["bot"] == bot_id}


def describe(row: Json) -> str:
    return f"{tables.rating(row)} after {row['games']} matches"


def wait_for(start: float, look: Any) -> float:
    """Return after how many seconds ``look()`` was true."""
    while not look():
        if time.monotonic() - start > PATIENCE_S:
            raise RuntimeError(f"nothing came within {PATIENCE_S:.0f} s")
        time.sleep(LOOK_S)
    return significant(time.monotonic() - start)


if __name__ == "__main__":
    run("newcomer", "a bot alone on an empty service, from its registration to its rating", measure)
