"""A database of the first schema with results and ratings is upgraded to one with a ledger, and used further."""

import importlib
import itertools
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import func, inspect, select, update

from referee.bots.tables import Check
from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee.ladders import audit, ranks, ratings
from referee.ladders.rating_replay import RULES_1, RatedSeats
from referee.ladders.tables import LedgerEntry, RatingChange, RatingCount
from referee.matches.tables import DealGroup, Result
from referee.schema import Base
from referee.workflows.log_signing import sign_old_logs
from tests.database.world import MANIFEST, FakeClock, World, certify
from tests.surroundings import MASTER_KEY

RENAMED = importlib.import_module("referee.db.migrations.versions.0006_plain_words").COLUMNS
FORMER_GROUP_STATES = {"new": "new", "playing": "open", "revealed": "over"}
# In an order in which they may refer to each other.
KEPT = (
    *("accounts", "bots", "deal_groups", "matches", "match_seats", "match_logs", "ladders", "results"),
    *("ratings", "rating_changes"),
)


def test_results_ratings_and_changes_of_the_first_schema_become_a_ledger_that_holds(
    empty_url: str, sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RatedSeats, "newest_rules", RULES_1)  # ratings of the first schema followed them
    path = tmp_path / "today.db"
    shutil.copy(sqlite_template, path)
    today = World(Database(f"sqlite:///{path}", clock=FakeClock()))
    bots = today.bots(3)
    for number in range(6):
        today.play([bots[number % 3], bots[(number + 1) % 3]], choice=number % 2, rated=number != 2)
    old = Database(empty_url, clock=FakeClock())
    upgrade(old, to="0001")
    copy_back(today.database, old)
    monkeypatch.undo()

    upgrade(old)

    with old.write() as session:  # today's logs have the third step of openings, which the first schema did not store
        session.execute(update(DealGroup).values(accepted=[None, None]))
    sign_old_logs(old, MASTER_KEY)
    with old.read() as session:
        assert [str(one) for one in audit.audit(session)] == []
        results = list(session.scalars(select(Result).order_by(Result.seq)))
        acts = list(session.scalars(select(LedgerEntry).order_by(LedgerEntry.seq)))
        assert [(act.seq, act.match_id, act.kind) for act in acts] == [
            (result.seq, result.match_id, "result") for result in results if result.ladder_id
        ]
        assert all(result.entrants == result.bots and result.rated == [True, True] for result in results)
        ladder = acts[0].ladder_id
        lines = ratings.load_page(session, ladder).page.items
        own = [ranks.find_rank(session, ladder, line.bot_id) for line in lines]
        assert [(place and place.rank, place and place.total) for place in own] == [(line.rank, 3) for line in lines]
        assert session.scalars(select(func.sum(RatingCount.bots))).one() == 2 * 3
        assert sum(session.scalars(select(func.max(RatingChange.games)).group_by(RatingChange.bot_id))) == 2 * 5
    with old.write() as session:
        due = session.scalars(select(Check.bot_id).where(Check.state == "due"))
        assert set(due) == {*bots}  # they were verified before there were certificates
        for bot_id in bots:
            certify(session, bot_id, MANIFEST)
    World(old, numbers=itertools.count(100)).play(bots[:2])
    with old.read() as session:
        assert [str(one) for one in audit.audit(session)] == []
        assert session.scalars(select(func.max(LedgerEntry.seq))).one() > acts[-1].seq
    old.dispose()
    today.database.dispose()


def copy_back(today: Database, old: Database) -> None:
    """Copy the rows into the first schema, in which changes and ratings had the numbers of results."""
    with today.read() as session, old.migration_connection() as connection:
        query = select(LedgerEntry.seq, Result.seq).join(Result, Result.match_id == LedgerEntry.match_id)
        numbers = dict(session.execute(query).all())
        for name in KEPT:
            there = {column["name"] for column in inspect(connection).get_columns(name)}
            renamed = {new: old for old, new in RENAMED.get(name, {}).items()}
            then = {column: renamed.get(column.name, column.name) for column in Base.metadata.tables[name].columns}
            columns = [column.label(old_name) for column, old_name in then.items() if old_name in there]
            rows = [dict(row) for row in session.execute(select(*columns)).mappings()]
            for row in rows:
                if name == "rating_changes":
                    row["seq"] = numbers[row["seq"]]
                if name == "deal_groups":
                    row["state"] = FORMER_GROUP_STATES[row["state"]]
                if name == "ratings":
                    row["as_of_seq"] = numbers[row["as_of_seq"]]
            table = sa.table(name, *(sa.column(column.name, column.type) for column in columns))
            connection.execute(sa.insert(table), rows)
        if not old.is_sqlite:
            connection.execute(sa.text("SELECT setval(pg_get_serial_sequence('results', 'seq'), 100)"))
