"""Pages and answers cost the same however many matches of other bots the service has."""

import sqlite3
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from bench.growth import Site, new_site
from bench.measure import Benchmark
from bench.world import World, add_played, pair_up
from referee.db import statistics
from referee.settings import Settings
from tests.api.conftest import COMPILED
from tests.database.databases import write_upgraded

BOTS, MATCHES = 30, 150
OTHER_MATCHES = 2_000
INSTRUCTIONS = 200  # of SQLite between two counts
TOLERATED = 2.0  # times as many instructions

Costs = dict[str, int]


@contextmanager
def counted_site(other_matches: int) -> Iterator[tuple[Site, list[int]]]:
    """Yield a site, and a list whose one element counts the instructions of SQLite."""
    executed = [0]

    def count() -> int:
        executed[0] += INSTRUCTIONS
        return 0

    with new_site(Benchmark("growth", Namespace(quick=True)), BOTS, MATCHES) as site:
        site.client.application.jinja_env.bytecode_cache = COMPILED
        database: Any = site.client.application.extensions["referee.database"]
        others = World(Settings.load(), database).add_bots(BOTS)
        with database.write() as session:
            add_played(session, None, pair_up(others, other_matches))
        database.dispose()
        event.listen(database._engine, "connect", lambda driver, _: driver.set_progress_handler(count, INSTRUCTIONS))
        yield site, executed


def costs_of(site: Site, executed: list[int], rules: Iterable[str]) -> Costs:
    """Return the instructions for each of these addresses, once their caches are filled."""
    found = {}
    for rule in rules:
        executed[0] = 0
        site.get(rule)
        found[rule] = executed[0]
    return found


def test_the_matches_of_others_and_analyze_make_no_page_dearer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.world.upgrade", lambda empty: write_upgraded(Path(empty.url.database)))
    with counted_site(BOTS) as (small, few), counted_site(OTHER_MATCHES) as (large, many):
        database: Any = large.client.application.extensions["referee.database"]
        with closing(sqlite3.connect(database.url.database)) as tool:
            tool.execute("ANALYZE")
        with database.read() as session:
            assert statistics.has_statistics(session)
        statistics.remove_statistics(database)
        with database.read() as session:
            assert not statistics.has_statistics(session)
        rules = [rule for rule in large.paths if small.get(rule) == large.get(rule) == 200]
        before, after = costs_of(small, few, rules), costs_of(large, many, rules)

    assert len(after) > 70
    assert [rule for rule in rules if after[rule] > TOLERATED * before[rule] + 20 * INSTRUCTIONS] == []
