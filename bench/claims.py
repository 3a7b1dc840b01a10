"""Measure what a runner spends on claims after each match that ended, while all bots are full, on SQLite."""

from dataclasses import astuple
from functools import partial
from itertools import combinations, cycle, islice
from random import Random
from typing import Final

from sqlalchemy import update

from bench.measure import Benchmark, Json, Seconds, run, significant, time_of
from bench.world import GAME, MASTER_KEY, World, new_world
from referee import schema
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.matches.queue import claims, match_queue
from referee.matches.queue.capacity import ClaimUnit
from referee.matches.queue.match_queue import Look
from referee.matches.scheduling import MatchPlan, create_matches
from referee.matches.states import MatchState

BOTS: Final = ((20, 8), (200, 1))  # bots, and concurrent requests of each
DUE: Final = (200, 2_000, 20_000)
BATCH: Final = 8


def measure(benchmark: Benchmark) -> Json:
    figures = {}
    for count, most in BOTS[:1] if benchmark.quick else BOTS:
        for due in (20,) if benchmark.quick else DUE:
            benchmark.note(f"{due} due matches of {count} bots")
            with new_world() as world:
                figures[f"{count} bots of {most}, {due} due"] = measure_ends(benchmark, world, count, most, due)
    return figures


def measure_ends(benchmark: Benchmark, world: World, count: int, most: int, due: int) -> Json:
    """End running matches one by one. After each, look at the freed bots and claim what is found."""
    bot_ids = world.add_certified_bots("http://127.0.0.1:9000", count)
    arrange(world, bot_ids, most, due)
    reading, locked = [], []
    ends, claimed = benchmark.size(40, 2), 0
    for _ in range(ends):
        freed = end_a_match(world)
        found: list[ClaimUnit] = []

        def look(freed: list[str] = freed, found: list[ClaimUnit] = found) -> None:
            with world.database.read() as session:
                limited = Look(freed, everywhere=False)
                found += match_queue.find_matches(session, BATCH, look=limited).units

        reading.append(time_of(look))
        if found:
            with world.database.write() as session:
                locked.append(time_of(partial(claims.claim_found, session, found)))
            claimed += len(found)
    read, write = (sum_of(timings) / ends for timings in (reading, locked))
    values = {
        "ms of reading": 1000 * read.wall,
        "ms of reading, CPU": 1000 * read.thread,
        "ms of write lock": 1000 * write.wall,  # without the commit, which waits for the disk
        "ms of write lock, CPU": 1000 * write.thread,
        "claims": claimed / ends,
    }
    return {f"{name}, per ended match": significant(value) for name, value in values.items()}


def sum_of(timings: list[Seconds]) -> Seconds:
    return Seconds(*(sum(times) for times in zip((0.0, 0.0, 0.0), *map(astuple, timings), strict=True)))


def arrange(world: World, bot_ids: list[str], most: int, due: int) -> None:
    """Arrange matches of all pairs of bots, in random order, and claim them until no bot has a free request."""
    pairs = list(combinations(bot_ids, 2))
    Random(1).shuffle(pairs)
    plans = [MatchPlan(GAME, pair, {}, Limits()) for pair in islice(cycle(pairs), due)]
    with world.database.write() as session:
        session.execute(update(schema.Bot).values(max_concurrent_requests=most))
        create_matches(session, plans, master_key=MASTER_KEY)
    claimed = True
    while claimed:
        with world.database.write() as session:
            claimed = bool(claims.claim_matches(session, BATCH))


def end_a_match(world: World) -> list[str]:
    """End the running match that was claimed first, and return its bots."""
    with world.database.write() as session:
        match = session.query(schema.StoredMatch).filter_by(status="running").order_by("started_at", "id").first()
        assert match is not None
        match.status = MatchState.FINISHED
        return [seat.bot_id for seat in matches.seats_of(session, [match.id])[match.id]]


if __name__ == "__main__":
    run("claims", "claims of matches while all bots are full", measure)
