"""The record: transactions that end a match, and those that write down decisions, on SQLite and one at a time.

Ended matches a second are given by the clock on the wall (a durable commit waits for the disk) and by CPU time.
"""

import statistics
import time
from collections.abc import Callable
from random import Random

from bench.local import advance
from bench.measure import Benchmark, Json, rounded
from bench.world import MASTER_KEY, World, world
from referee.match.chance import CommittedChance
from referee.match.match import Match
from referee.matches import claims, deal_groups, matches
from referee.matches.claims import Claim
from referee.matches.recording import MatchUpdate, record_batch
from referee.workflows import match_end, match_loading

GAME, SEATS = "saint-poker", 2
BATCHES = (1, 16, 100)


def main() -> None:
    benchmark = Benchmark.from_command_line("store", "transactions of the record")
    with world() as place:
        seated = place.enlist("http://127.0.0.1:9000", SEATS)
        figures = {"ended matches": ended(benchmark, place, seated), "rows recorded": {}}
        for size in (2,) if benchmark.quick else BATCHES:
            figures["rows recorded"][f"{size} matches a transaction"] = recorded(benchmark, place, seated, size)
    benchmark.report(figures)


def ended(benchmark: Benchmark, place: World, seated: list[str]) -> Json:
    """Every match has its rows but the last recorded, as when it was played."""
    spent = []
    for run in range(benchmark.runs):
        benchmark.note(f"ending matches, run {run + 1} of {benchmark.runs}")
        tails = [whole(place, claim) for claim in claimed(place, seated, benchmark.size(40, 2))]

        def end(tails: list[tuple[MatchUpdate, match_end.MatchResult]] = tails) -> None:
            for tail, outcome in tails:
                with place.database.write() as session:
                    match_end.finish_match(session, tail, outcome, master_key=MASTER_KEY)

        spent.append([seconds / len(tails) for seconds in wall_and_cpu(end)])
    return per_second(spent)


def recorded(benchmark: Benchmark, place: World, seated: list[str], size: int) -> Json:
    """A row for each of so many matches in one transaction, as a runner that plays them gathers them."""
    times = benchmark.size(30, 2)
    mine = claimed(place, seated, size)
    spent = []
    for run in range(benchmark.runs):
        start = run * times

        def record(start: int = start) -> None:
            for row in range(start, start + times):
                batch = [MatchUpdate(claim.match_id, claim.epoch, row, [b"x" * 250]) for claim in mine]
                with place.database.write(durable=False) as session:
                    lost = record_batch(session, batch)
                assert not lost

        spent.append([seconds / (times * size) for seconds in wall_and_cpu(record)])
    return per_second(spent)


def claimed(place: World, seated: list[str], count: int) -> list[Claim]:
    """So many new matches, claimed and with their groups open."""
    mine = []
    for match_id in place.arrange(GAME, seated, count):
        with place.database.write() as session:
            mine += claims.claim_matches(session, 1, match_id=match_id)
            opening = deal_groups.claim_opening(session, matches.get_match(session, match_id).group_id)
            assert opening is not None
            blank = [""] * SEATS
            deal_groups.record_nonce_hashes(session, opening.group_id, opening.epoch, blank)
            deal_groups.open_group(session, opening.group_id, opening.epoch, blank)
    return mine


def whole(place: World, claim: Claim) -> tuple[MatchUpdate, match_end.MatchResult]:
    """The match played; all rows before the last are recorded."""
    with place.database.read() as session:
        loaded = match_loading.load_match(session, claim.match_id, master_key=MASTER_KEY)
    match = Match(loaded.header, CommittedChance(loaded.seed, loaded.group_id, loaded.nonces or []))
    match.begin()
    advance(match, Random(1))
    lines, state = match.lines, match.state
    with place.database.write() as session:
        record_batch(session, [MatchUpdate(claim.match_id, claim.epoch, 0, lines[:-1])])
    tail = MatchUpdate(claim.match_id, claim.epoch, len(lines) - 1, lines[-1:])
    return tail, match_end.MatchResult(state.placements(), state.returns(), state.scores(), match.faults)


def wall_and_cpu(work: Callable[[], None]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def per_second(spent: list[list[float]]) -> Json:
    wall, cpu = (statistics.median(kind) for kind in zip(*spent, strict=True))
    return {"per second": rounded(1 / wall), "per CPU second": rounded(1 / cpu), "CPU us each": rounded(1e6 * cpu)}


if __name__ == "__main__":
    main()
