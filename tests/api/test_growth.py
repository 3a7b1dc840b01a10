"""Pages and answers cost the same however many matches of other bots the service has."""

import sqlite3
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from sqlalchemy import event

from bench.growth import Site, new_site
from bench.measure import Benchmark
from bench.world import World, add_played, pair_up
from referee.db import statistics
from referee.settings import Settings

BOTS, MATCHES = 60, 600
OTHER_MATCHES = 4_000
INSTRUCTIONS = 50  # of SQLite between two counts
TOLERATED = 2.0  # times as many instructions


@contextmanager
def counted_site(other_matches: int) -> Iterator[tuple[Site, list[int]]]:
    """Yield a site, and a list whose one element counts the instructions of SQLite."""
    executed = [0]

    def count() -> int:
        executed[0] += INSTRUCTIONS
        return 0

    with new_site(Benchmark("growth", Namespace(quick=True)), BOTS, MATCHES) as site:
        database: Any = site.client.application.extensions["referee.database"]
        others = World(Settings.load(), database).add_bots(BOTS)
        with database.write() as session:
            add_played(session, None, pair_up(others, other_matches))
        database.dispose()
        event.listen(database._engine, "connect", lambda driver, _: driver.set_progress_handler(count, INSTRUCTIONS))
        yield site, executed


def instructions_of(site: Site, executed: list[int], rule: str) -> int:
    site.get(rule)  # fills caches
    executed[0] = 0
    site.get(rule)
    return executed[0]


def find_dearer(costs: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    return {rule: cost for rule, cost in costs.items() if cost[1] > TOLERATED * cost[0] + 20 * INSTRUCTIONS}


def test_the_matches_of_others_and_analyze_make_no_page_dearer() -> None:
    with counted_site(BOTS) as (small, few), counted_site(OTHER_MATCHES) as (large, many):
        rules = [rule for rule in large.paths if small.get(rule) == 200]
        before = {rule: instructions_of(large, many, rule) for rule in rules}
        costs = {rule: (instructions_of(small, few, rule), before[rule]) for rule in rules}
        database: Any = large.client.application.extensions["referee.database"]
        with closing(sqlite3.connect(database.url.database)) as tool:
            tool.execute("ANALYZE")
        analyzed = {rule: (cost, instructions_of(large, many, rule)) for rule, cost in before.items()}
        with database.read() as session:
            assert statistics.has_statistics(session)
        statistics.remove_statistics(database)
        removed = {rule: (cost, instructions_of(large, many, rule)) for rule, cost in before.items()}

    assert len(rules) > 70
    assert find_dearer(costs) == {}
    assert len(find_dearer(analyzed)) > 10
    assert find_dearer(removed) == {}
