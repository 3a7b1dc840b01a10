"""Ladders of 100 to 100,000 bots: a page of standings, a bot's own place, one result's update, and their growth.

In milliseconds of CPU and on the wall, per operation and as a multiple of the smallest ladder's. On SQLite, unless
``--database`` names an empty PostgreSQL database.
"""

import itertools
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any, Final

from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from bench.measure import Benchmark, Json, rounded
from bench.world import World, world
from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.db.engine import Database
from referee.ladders import ledger, ranks, ratings
from referee.ladders.ledger import RatedResult
from referee.ladders.rating_replay import RatingState
from referee.ladders.tables import Rating
from referee.matches.tables import DealGroup, Match
from referee.ratings.elo import MICRO, START

SIZES: Final = (100, 1_000, 10_000, 100_000)
SEATS: Final = 4
SPREAD: Final = 200 * MICRO  # standard deviation of the ratings
PORTION: Final = 5_000
MOMENT: Final = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    options = {"database": {"help": "URL of an empty PostgreSQL database"}}
    benchmark = Benchmark.from_command_line("places", "ladders of 100 to 100,000 bots, ms each", **options)
    given = {"database_url": benchmark.given.database} if benchmark.given.database else {}
    sizes = (20, 40) if benchmark.quick else SIZES
    figures: Json = {}
    with world(**given) as place:
        ladders = {size: Standings(place, size) for size in sizes}
        for name in ("a page from the top", "a page from the middle", "a bot's own place", "one result's update"):
            benchmark.note(name)
            figures[name] = _measured({size: ladder.operation(name) for size, ladder in ladders.items()}, benchmark)
    benchmark.report(figures)


def _measured(operations: dict[int, Callable[[], None]], benchmark: Benchmark) -> Json:
    """The sizes take turns, so that a busy moment of the machine meets all of them; the median counts."""
    spent: dict[int, list[tuple[float, float]]] = {size: [] for size in operations}
    for _ in range(benchmark.size(300, 3)):
        for size, operation in operations.items():
            wall, cpu = time.perf_counter(), time.process_time()
            operation()
            spent[size].append((time.process_time() - cpu, time.perf_counter() - wall))
    medians = {
        size: [1000 * statistics.median(kind) for kind in zip(*taken, strict=True)] for size, taken in spent.items()
    }
    least = next(iter(medians.values()))
    return {
        f"{size} bots": {
            f"{kind} ms": rounded(value)
            for kind, value in (("CPU", medians[size][0]), ("wall", medians[size][1]))
        }
        | {f"{kind} growth": rounded(medians[size][at] / least[at]) for at, kind in enumerate(("CPU", "wall"))}
        for size in medians
    }  # fmt: skip


class Standings:
    """A ladder of so many bots with ratings around the start, and operations on it."""

    def __init__(self, place: World, size: int) -> None:
        self.database: Database = place.database
        self.dice = Random(size)
        self.bots = [f"bot_{size}_{number}" for number in range(size)]
        self.matches = (f"mat_{size}_{number}" for number in itertools.count())
        with self.database.write() as session:
            self.ladder_id = ratings.get_or_create_ladder(session, "saint-poker", {"size": size}, SEATS).id
            self._fill(session)
        if not self.database.is_sqlite:
            with self.database.migration_connection() as connection:
                connection.execute(text("ANALYZE"))
        with self.database.read() as session:
            middle = session.get_one(Rating, (self.ladder_id, self.bots[size // 2]))
            self.cursor = [middle.value, middle.bot_id, size // 2, size // 2]

    def operation(self, name: str) -> Callable[[], None]:
        return {
            "a page from the top": self.page,
            "a page from the middle": lambda: self.page(self.cursor),
            "a bot's own place": self.place,
            "one result's update": self.update,
        }[name]

    def page(self, cursor: list[Any] | None = None) -> None:
        with self.database.read() as session:
            ratings.load_page(session, self.ladder_id, limit=20, cursor=cursor)

    def place(self) -> None:
        with self.database.read() as session:
            assert ranks.find_rank(session, self.ladder_id, self.dice.choice(self.bots)) is not None

    def update(self) -> None:
        """The part of ending a match that has to do with its ladder, as a transaction of its own."""
        seated = self.dice.sample(self.bots, SEATS)
        order = self.dice.sample(range(1, SEATS + 1), SEATS)
        match_id = next(self.matches)
        with self.database.write() as session:
            _bare_match(session, match_id)
            ledger.lock_ledger(session)
            ledger.enter_results(session, [RatedResult(self.ladder_id, match_id, seated, order, [True] * SEATS)])

    def _fill(self, session: Session) -> None:
        owner = f"acc_{len(self.bots)}"
        session.execute(
            insert(Account),
            [{"id": owner, "name": owner, "normalized_name": owner, "role": "owner", "created_at": MOMENT}],
        )
        held = [RatingState(round(self.dice.gauss(START, SPREAD)), 50) for _ in self.bots]
        for start in range(0, len(self.bots), PORTION):
            some = list(zip(self.bots, held, strict=True))[start : start + PORTION]
            session.execute(insert(Bot), [_bot(bot_id, owner) for bot_id, _ in some])
            session.execute(
                insert(Rating),
                [
                    {"ladder_id": self.ladder_id, "bot_id": bot, "value": one.value, "games": 50, "as_of_seq": 0}
                    for bot, one in some
                ],
            )
        ranks.replace_counts(session, self.ladder_id, held)


def _bot(bot_id: str, owner: str) -> Json:
    words = {"url": "http://127.0.0.1/", "host": "127.0.0.1", "status": "verified", "check_state": "idle"}
    numbers = dict.fromkeys(("secret_generation", "revision", "epoch", "checks_lost", "max_concurrent_requests"), 1)
    names = {"id": bot_id, "owner_id": owner, "name": bot_id, "normalized_name": bot_id}
    return {**names, **words, **numbers, "games": [], "created_at": MOMENT}


def _bare_match(session: Session, match_id: str) -> None:
    """What the act refers to; the same work for every size."""
    group = {"id": match_id, "commitment": "", "seed_sealed": b"", "state": "over", "entries": [], "epoch": 0}
    session.execute(insert(DealGroup), [{**group, "kind": "own", "created_at": MOMENT}])
    numbers = dict.fromkeys(
        ("rules_version", "seats", "budget_ms", "bank_ms", "epoch", "lost_claims", "claims_without_progress", "rows"), 1
    )
    words = {"game": "saint-poker", "engine_version": "1", "status": "finished", "options": {}, "rated": True}
    match = {"id": match_id, "group_id": match_id, "created_at": MOMENT, **numbers, **words}
    session.execute(insert(Match), [match])


if __name__ == "__main__":
    main()
