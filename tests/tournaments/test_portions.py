"""The matches of a large round are created in portions, each in a transaction of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.db.engine import Database
from referee.matches.tables import StoredMatch
from referee.tournaments import match_creation, progression, rounds
from referee.tournaments.match_creation import (
    MATCHES_PER_TRANSACTION,
    MatchesToCreate,
    count_sets,
    next_portion,
    take_portion,
)
from referee.tournaments.rounds import parse_table
from referee.tournaments.tables import Tournament
from tests.database import scripted
from tests.database.checks import on_one_database
from tests.database.world import FakeClock, World
from tests.surroundings import MASTER_KEY
from tests.tournaments.test_tournaments_resumed import two_alike

ENTRIES = 20


def tables(count: int, *, per_section: int = 1, legs: int = 1) -> list[dict[str, Any]]:
    return [
        {"entrants": [f"a{index}", f"b{index}"], "label": "", "legs": legs, "section": index // per_section}
        for index in range(count)
    ]


@pytest.mark.parametrize(("per_section", "legs", "orders"), [(1, 1, 1), (80, 1, 1), (1, 15, 24), (7, 5, 2)])
def test_portions_hold_all_tables_once_and_split_no_section(per_section: int, legs: int, orders: int) -> None:
    all_tables = tables(2_000, per_section=per_section, legs=legs)
    arranged, portions = 0, []
    while portion := next_portion(all_tables, arranged, orders):
        arranged += len(portion)
        portions.append(portion)

    assert sorted(wanted.table_no for portion in portions for wanted in portion) == list(range(1, 2_001))
    sections = [{wanted.section for wanted in portion} for portion in portions]
    assert sum(map(len, sections)) == len(set.union(*sections))
    most = per_section * legs * orders  # of one section
    sizes = [sum(wanted.sets for wanted in portion) * orders for portion in portions]
    assert max(sizes) <= max(MATCHES_PER_TRANSACTION, most)
    assert min(sizes[:-1]) > MATCHES_PER_TRANSACTION - most


def test_further_matches_come_in_portions_too() -> None:
    wanted = [MatchesToCreate(number, parse_table(table), None, sets=3) for number, table in enumerate(tables(100), 1)]

    taken = take_portion(([table] for table in wanted), matches_per_set=24)

    assert [table.table_no for table in taken] == list(range(1, 7))  # 6 × 3 × 24 = 432; 7 would need 504


class Counting(Database):
    """A database that notes how many matches each of its transactions created."""

    def __init__(self, url: str) -> None:
        super().__init__(url, clock=FakeClock())
        self.created: list[int] = []

    @contextmanager
    def write(self, *, durable: bool = True, idle_s: float | None = None) -> Iterator[Session]:
        with super().write(durable=durable, idle_s=idle_s) as session:
            before = count_matches(session)
            yield session
            self.created.append(count_matches(session) - before)


@on_one_database
@pytest.mark.parametrize("deal_sharing", ["own", "common"])
def test_a_crash_after_any_portion_is_continued_with_the_same_tables(
    world: World, monkeypatch: pytest.MonkeyPatch, deal_sharing: str
) -> None:
    monkeypatch.setattr(match_creation, "MATCHES_PER_TRANSACTION", 8)
    monkeypatch.setattr(rounds, "MAX_GROUP_SEATS", 6)
    whole, broken = two_alike(world, ENTRIES, format="swiss", deal_sharing=deal_sharing)
    url = world.database.url.render_as_string(hide_password=False)
    counting, dying = Counting(url), scripted.Dying(url, clock=FakeClock())

    while progression.take_next_step(counting, whole, master_key=MASTER_KEY):
        pass
    scripted.steps(dying, world.database, broken)

    assert scripted.shape(world.database, broken) == scripted.shape(world.database, whole)
    with world.database.read() as session:
        assert count_matches(session) == ENTRIES  # two rounds of half as many tables
        tournament = session.get_one(Tournament, broken)
        sets = count_sets(session, tournament, 1, range(1, ENTRIES))
        assert sets == dict.fromkeys(range(1, ENTRIES // 2 + 1), 1)
    # Sections of 3 tables share their cards: two of them fit, and a third would need 9 matches.
    assert [size for size in counting.created if size] == ([8, 2] if deal_sharing == "own" else [6, 4])
    counting.dispose()
    dying.dispose()


def count_matches(session: Session) -> int:
    return session.scalars(select(func.count()).select_from(StoredMatch)).one()
