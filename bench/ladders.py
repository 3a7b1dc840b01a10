"""Measure how the cost of operations on a ladder grows from 100 to 100,000 bots.

Print milliseconds per operation, and the ratio to the smallest ladder. Use SQLite, unless ``--database`` names an
empty PostgreSQL database.
"""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from sqlalchemy import select, text

from bench.measure import Benchmark, Json, Seconds, median_timing, run, significant, time_of
from bench.world import World, add_match, new_world
from referee import schema
from referee.ladders import ledger, ranks, ratings
from referee.ladders.ledger import RatedResult
from referee.ladders.rating_replay import RatedSeats

SIZES: Final = (100, 1_000, 10_000, 100_000)
SEATS: Final = 4


def measure(benchmark: Benchmark) -> Json:
    changes = {"database_url": benchmark.options.database} if benchmark.options.database else {}
    with new_world(**changes) as world:
        benchmark.note("filling the database")
        ladders = [BenchmarkLadder(world, size) for size in ((20, 40) if benchmark.quick else SIZES)]
        return {name: measure_operation(benchmark, name, ladders) for name in BenchmarkLadder.OPERATIONS}


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
            ratings.load_page(session, self.ladder_id, limit=20, cursor=cursor)

    def read_rank(self) -> None:
        with self.database.read() as session:
            assert ranks.find_rank(session, self.ladder_id, self.dice.choice(self.bots)) is not None

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
