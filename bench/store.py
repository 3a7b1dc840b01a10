"""Measure transactions on SQLite, one at a time: that end a match, fill the inboxes of its owners, record decisions.

Print rates by wall time, because a durable commit waits for the disk, and by CPU time.
"""

from random import Random
from typing import Final

from bench.measure import Benchmark, Json, Seconds, median_timing, run, significant, time_of
from bench.playouts import answer_all
from bench.world import MASTER_KEY, World, new_world
from referee.bots import bots
from referee.matches.logs.recording import MatchUpdate, record_batch
from referee.matches.queue.claims import Claim
from referee.workflows.ending import match_end
from referee_extras.notifications import inbox
from referee_extras.notifications.notification_types import MATCH_FINISHED

GAME, SEATS = "saint-poker", 2
BATCHES: Final = (1, 16, 100)  # matches per transaction


def measure(benchmark: Benchmark) -> Json:
    with new_world() as world:
        bot_ids = world.add_certified_bots("http://127.0.0.1:9000", SEATS)
        figures = {"finished matches": measure_match_end(benchmark, world, bot_ids)}
        figures["messages to two owners, inboxes full"] = measure_inboxes(benchmark, world, bot_ids)
        for size in (2,) if benchmark.quick else BATCHES:
            figures[f"recorded rows, {size} matches per transaction"] = measure_rows(benchmark, world, bot_ids, size)
    return figures


def measure_match_end(benchmark: Benchmark, world: World, bot_ids: list[str]) -> Json:
    """Finish matches of which all rows except the last are recorded."""
    timings = []
    for number in range(1, benchmark.runs + 1):
        benchmark.note(f"finishing matches, run {number} of {benchmark.runs}")
        claims = world.claim_matches(GAME, bot_ids, benchmark.size(40, 2))
        ends = [play_to_last_row(world, claim) for claim in claims]

        def finish_all(ends: list[tuple[MatchUpdate, match_end.MatchResult]] = ends) -> None:
            for last_row, result in ends:
                with world.database.write() as session:
                    match_end.finish_match(session, last_row, result, master_key=MASTER_KEY)

        timings.append(time_of(finish_all) / len(ends))
    return rates(timings)


def measure_inboxes(benchmark: Benchmark, world: World, bot_ids: list[str]) -> Json:
    """Add entries to the inboxes of the owners, which have as many as an inbox keeps."""
    size, timings = benchmark.size(inbox.MAX_ENTRIES, 20), []
    with world.database.read() as session:
        owners = [bots.get_bot(session, bot_id).owner_id for bot_id in bot_ids]

    def add_all() -> None:
        for _ in range(size):
            with world.database.write(durable=False) as session:
                inbox.add_entries(session, MATCH_FINISHED, [(owners, {"match": "mat_bench"})])

    add_all()  # fills them
    for _ in range(benchmark.runs):
        timings.append(time_of(add_all) / size)
    return rates(timings)


def play_to_last_row(world: World, claim: Claim) -> tuple[MatchUpdate, match_end.MatchResult]:
    """Play a match at random and record all rows except the last. Return the last row and the result."""
    match, dice = world.begin_match(claim), Random(1)
    while not match.over:
        answer_all(match, dice)
    lines, state = match.lines, match.state
    with world.database.write() as session:
        record_batch(session, [MatchUpdate(claim.match_id, claim.epoch, 0, lines[:-1])])
    last_row = MatchUpdate(claim.match_id, claim.epoch, len(lines) - 1, lines[-1:])
    return last_row, match_end.MatchResult(state.placements(), state.returns(), state.scores(), match.faults)


def measure_rows(benchmark: Benchmark, world: World, bot_ids: list[str], size: int) -> Json:
    """Record one row of each of ``size`` matches in each transaction."""
    transactions, timings = benchmark.size(30, 2), []
    claims = world.claim_matches(GAME, bot_ids, size)
    for start in range(0, benchmark.runs * transactions, transactions):

        def record(start: int = start) -> None:
            for row in range(start, start + transactions):
                batch = [MatchUpdate(claim.match_id, claim.epoch, row, [b"x" * 250]) for claim in claims]
                with world.database.write(durable=False) as session:
                    lost = record_batch(session, batch)
                assert not lost

        timings.append(time_of(record) / (transactions * size))
    return rates(timings)


def rates(timings: list[Seconds]) -> Json:
    median = median_timing(timings)
    values = {"per second": 1 / median.wall, "per CPU second": 1 / median.cpu, "CPU us each": 1e6 * median.cpu}
    return {name: significant(value) for name, value in values.items()}


if __name__ == "__main__":
    run("store", "transactions of the database", measure)
