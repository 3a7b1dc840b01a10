"""Each extra has tables of its own, such as series: they are created, checked and left alone when it is gone."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

import referee_extras
from referee import plugs
from referee.db.engine import Database
from referee.db.revisions import WrongSchema, check, list_extra_schemas, list_uninstalled_extras, read_revision
from referee.db.upgrading import upgrade
from tests.database.tables import all_metadata

List = Callable[..., None]


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Iterator[List]:
    """Return a function that replaces the list of extras."""

    def put(*names: str) -> None:
        monkeypatch.setattr(referee_extras, "EXTRAS", names)
        plugs.extras.cache_clear()

    yield put
    plugs.extras.cache_clear()


@pytest.fixture
def empty(empty_url: str) -> Iterator[Database]:
    database = Database(empty_url)
    yield database
    database.dispose()


def tables(database: Database) -> set[str]:
    with database.inspection_connection() as connection:
        return set(inspect(connection).get_table_names())


def left(database: Database) -> list[str]:
    with database.inspection_connection() as connection:
        return list(list_uninstalled_extras(connection))


def test_no_table_of_the_service_refers_to_one_of_an_extra() -> None:
    service, *extras = all_metadata()
    others = {table for metadata in extras for table in metadata.tables.values()}

    assert others
    assert not {key.column.table for table in service.tables.values() for key in table.foreign_keys} & others


def test_tables_of_an_extra_are_created_when_it_is_installed_and_left_when_it_is_not(
    empty: Database, listed: List
) -> None:
    listed()
    upgrade(empty)
    check(empty)
    assert "series" not in tables(empty)

    listed("series")
    with pytest.raises(WrongSchema, match=r"no current tables of extras .*: series\..*admin upgrade"):
        check(empty)
    upgrade(empty)
    check(empty)
    assert (left(empty), "series" in tables(empty)) == ([], True)

    listed()
    upgrade(empty)
    check(empty)
    assert (left(empty), "series" in tables(empty)) == (["series"], True)


def test_tables_that_a_newer_version_of_an_extra_made_are_refused(empty: Database) -> None:
    upgrade(empty)
    with empty.write() as session:
        session.execute(text("UPDATE alembic_version_series SET version_num = '9999'"))

    for refused in (check, upgrade):
        with pytest.raises(WrongSchema, match=r"tables of the extra 'series' have schema 9999"):
            refused(empty)
    assert read_revision(empty) is not None


def test_a_name_of_an_extra_can_be_part_of_the_name_of_a_table_and_of_files() -> None:
    for schema in list_extra_schemas():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", schema.extra)
        assert isinstance(schema.migrations, Path)
        assert list(schema.migrations.glob("[0-9]*.py"))
