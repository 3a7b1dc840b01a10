"""Measure how the cost of operations on a ladder grows from 100 to 100,000 bots, and what a download of its file costs.

Print milliseconds per operation, and the ratio to the smallest ladder. Use SQLite, unless ``--database`` names an
empty PostgreSQL database.
"""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from sqlalchemy import select, text

from bench.measure import Benchmark, Json, Seconds, median_timing, run, significant, time_of
from bench.world import World, add_match, add_played, large_cache, new_world, pair_up
from referee import schema
from referee.ladders import ladder_rows, ledger, ledger_csv
from referee.ladders.ledger import RatedResult
from referee.ladders.rating_replay import RatedSeats

SIZES: Final = (100, 1_000, 10_000, 100_000)
SEATS: Final = 4
FILE_ENTRIES: Final = 200_000


def measure(benchmark: Benchmark) -> Json:
    changes = {"database_url": benchmark.options.database} if benchmark.options.database else {}
    with new_world(**changes) as world:
        benchmark.note("filling the database")
        ladders = [BenchmarkLadder(world, size) for size in ((20, 40) if benchmark.quick else SIZES)]
        operations = {name: measure_operation(benchmark, name, ladders) for name in BenchmarkLadder.OPERATIONS}
        return operations | {"results.csv": measure_file(benchmark, world)}


def measure_operation(benchmark: Benchmark, name: str, ladders: list["BenchmarkLadder"]) -> Json:
    """Measure the ladders alternately, so that a busy machine slows all of them down."""
    benchmark.note(name)
    timings: list[list[Seconds]] = [[] for _ in ladders]
    for _ in range(benchmark.size(300, 3)):
        for ladder, spent in zip(ladders, timings, strict=True):
            spent.append(time_of(partial(BenchmarkLadder.OPERATIONS[name], ladder)))
    medians = [median_timing(spent) for spent in timings]
    least = medians[0]
    return {
        f"{len(ladder.bots)} bots": {
            "CPU ms": significant(1000 * cost.cpu),
            "wall ms": significant(1000 * cost.wall),
            "CPU growth": significant(cost.cpu / least.cpu),
            "wall growth": significant(cost.wall / least.wall),
        }
        for ladder, cost in zip(ladders, medians, strict=True)
    }


def measure_file(benchmark: Benchmark, world: World) -> Json:
    """Measure the writing of the ledger file of a ladder."""
    entries, bots = benchmark.size(FILE_ENTRIES, 600), world.add_bots(100)
    benchmark.note(f"a file of {entries:,} entries")
    ladder_id = world.add_ladder(bots, 2, {"file": True})
    with world.database.write() as session, large_cache(session):
        first = 1_000_000  # after the entries of the other ladders
        add_played(session, ladder_id, pair_up(bots, entries), seq=first)
    size = 0

    def write_file() -> None:
        nonlocal size
        size = sum(map(len, ledger_csv.ledger_csv(world.database, ladder_id, first + entries)))

    return {"entries": entries, "CPU ms": significant(1000 * time_of(write_file).cpu), "MB": significant(size / 1e6)}


class BenchmarkLadder:
    """Create a ladder of ``size`` bots, and perform operations on it."""

    def __init__(self, world: World, size: int) -> None:
        self.database = world.database
        self.dice = Random(size)
        self.bots = world.add_bots(size)
        self.ladder_id = world.add_ladder(self.bots, SEATS, {"size": size})
        if not self.database.is_sqlite:
            with self.database.migration_connection() as connection:
                connection.execute(text("ANALYZE"))
        with self.database.read() as session:
            owners = select(schema.Bot.id, schema.Bot.owner_id).where(schema.Bot.id.in_(self.bots))
            self.owners = dict(session.execute(owners).all())
            middle = session.get_one(schema.Rating, (self.ladder_id, self.bots[size // 2]))
            self.cursor = [middle.value, middle.bot_id, size // 2, size // 2]

    def read_first_page(self) -> None:
        self._read_page(None)

    def read_middle_page(self) -> None:
        self._read_page(self.cursor)

    def _read_page(self, cursor: list[Any] | None) -> None:
        with self.database.read() as session:
            ladder_rows.load_rows(session, self.ladder_id, limit=20, cursor=cursor)

    def read_rank(self) -> None:
        with self.database.read() as session:
            assert ladder_rows.load_ranks(session, self.dice.choice(self.bots), self.ladder_id)

    def rate_result(self) -> None:
        """Record a result on the ladder, as the end of a match does, in its own transaction."""
        seated = self.dice.sample(self.bots, SEATS)
        placements = self.dice.sample(range(1, SEATS + 1), SEATS)
        with self.database.write() as session:
            match_id = add_match(session, seated)
            ledger.lock_ledger(session)
            owners = [self.owners[bot] for bot in seated]
            seats = RatedSeats(seated, placements, [True] * SEATS, owners, ["1"] * SEATS, [None] * SEATS)
            ledger.enter_results(session, [RatedResult(self.ladder_id, match_id, seats)])

    OPERATIONS: Final[dict[str, Callable[["BenchmarkLadder"], None]]] = {
        "a page from the top": read_first_page,
        "a page from the middle": read_middle_page,
        "a bot's own rank": read_rank,
        "one result's update": rate_result,
    }


if __name__ == "__main__":
    database = {"help": "URL of an empty PostgreSQL database."}
    run("ladders", "operations on ladders of 100 to 100,000 bots, ms each", measure, database=database)
