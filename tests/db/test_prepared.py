"""Prepared statements do what SQLAlchemy would do: the same values, rows, counts and errors on both databases."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.dialects import registry
from sqlalchemy.exc import IntegrityError

import workers.worker  # noqa: F401  # has all statements of a worker
from referee import schema
from referee.db import prepared
from referee.db.prepared import Prepared, compile_all, insert_columns, list_parameter
from referee.matches.states import MatchState
from tests.database.world import World

MATCHES, LADDERS, SEATS = (model.__table__ for model in (schema.StoredMatch, schema.Ladder, schema.MatchSeat))
OF: Any = MATCHES.c.id == bindparam("of")
AT = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone(timedelta(hours=5)))
STATE = Prepared(select(MATCHES.c.status, MATCHES.c.options, MATCHES.c.finished_at, MATCHES.c.tournament_id).where(OF))
FINISH = Prepared(
    update(MATCHES)
    .where(OF)
    .values(options=bindparam("options"), finished_at=bindparam("at"), status=MatchState.STUCK)
    .returning(MATCHES.c.options, MATCHES.c.finished_at, MATCHES.c.status)
)


def test_values_are_converted_both_ways_as_their_columns_say(world: World) -> None:
    match_id, options = world.match(), {"a": [1, None, "é"], "b": {"c": 0.5}}

    with world.database.write() as session:
        returned = FINISH.rows(session, {"of": match_id, "options": options, "at": AT})
        found = STATE.rows(session, {"of": match_id})
        stored = session.get_one(schema.StoredMatch, match_id)

    assert returned == [(options, AT, MatchState.STUCK)]
    assert found == [(MatchState.STUCK, options, AT, None)]
    assert (found[0][0] is MatchState.STUCK, found[0][2].tzinfo) == (True, UTC)
    assert (stored.options, stored.finished_at) == (options, AT)


def test_each_execution_has_its_own_count_and_its_own_rows(world: World) -> None:
    first, second = world.match(), world.match()
    stick = Prepared(update(MATCHES).where(OF, MATCHES.c.status == "due").values(status="stuck"))
    batch = [{"of": match_id} for match_id in (first, "nobody", second, first)]

    with world.database.write() as session:
        counts = stick.execute_each(session, batch)
        rows = STATE.rows_of_each(session, batch)

    assert counts == [1, 0, 1, 0]
    assert [[row[0] for row in found] for found in rows] == [["stuck"], [], ["stuck"], ["stuck"]]
    with world.database.write() as session:
        assert (stick.execute_each(session, []), stick.execute(session, {"of": "nobody"})) == ([], 0)


def test_a_parameter_that_is_a_list_has_any_texts_and_any_length(world: World) -> None:
    matches = {world.match() for _ in range(3)}
    listed, others = (
        Prepared(select(MATCHES.c.id).where(condition))
        for condition in (MATCHES.c.id.in_(list_parameter("ids")), MATCHES.c.id.not_in(list_parameter("ids")))
    )
    one, *rest = sorted(matches)
    lists = [[], [one, one, "\"'é,\\ %s"], [*matches, *map(str, range(2_000))]]

    with world.database.read() as session:
        found, not_found = (
            [{row[0] for row in statement.rows(session, {"ids": ids})} for ids in lists]
            for statement in (listed, others)
        )

    assert found == [set(), {one}, matches]
    assert not_found == [matches, set(rest), set()]


@pytest.mark.parametrize("rows", [1, 3])
def test_errors_are_those_of_sqlalchemy(world: World, rows: int) -> None:
    match_id = world.match()
    add = Prepared(insert_columns(SEATS))
    values = {column.name: None for column in SEATS.c} | {"match_id": match_id, "bot_name": "", "faults": 0}

    taken = {**values, "seat": 0, "bot_id": world.load(match_id).players[0].bot_id, "rated": True}
    with pytest.raises(IntegrityError), world.database.write() as session:
        add.execute_all(session, [taken] * rows)

    assert len(world.load(match_id).players) == 2


def test_a_statement_whose_values_are_not_all_its_own_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "_STATEMENTS", [])  # no other test compiles these
    defaulted = Prepared(insert(SEATS).values(match_id=bindparam("of"), seat=bindparam("at")))
    expanding = Prepared(select(MATCHES.c.id).where(MATCHES.c.id.in_(bindparam("those", expanding=True))))

    with world.database.write() as session:
        for statement in (defaulted, expanding):
            with pytest.raises(ValueError, match="not a statement that can be prepared"):
                statement.rows(session, {"of": "x", "at": 0, "those": ["x"]})


@pytest.mark.parametrize("dialect", ["sqlite.pysqlite", "postgresql.psycopg"])
def test_all_statements_of_a_worker_compile_on_every_database(dialect: str) -> None:
    assert len(prepared._STATEMENTS) > 20

    compile_all(registry.load(dialect)())


def test_an_insert_names_every_column_but_those_it_leaves_out(world: World) -> None:
    add = Prepared(insert_columns(LADDERS, without=["frozen_reason"]).returning(LADDERS.c.id))
    row = {"id": "lad_x", "game": "saint-poker", "options": {}, "options_key": "x", "seats": 2, "created_at": AT}
    row |= {"name": "X", "official": False, "daily_matches": None, "exchange_day": 0, "errors_seq": 0, "results": 0}
    row |= {"unlisted": False}

    with world.database.write() as session:
        assert add.rows(session, row) == [("lad_x",)]
        assert session.get_one(schema.Ladder, "lad_x").created_at == AT
