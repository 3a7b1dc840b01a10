"""Execute the statements of every decision and match on the driver's cursor, after compiling them once.

The effect is that of ``Session.execute``, which would cost ten times as much as SQLite's own work.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import JSON, BindParameter, Connection, Dialect, String, Table, bindparam, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session
from sqlalchemy.sql import Delete, Insert, Select, Update, column
from sqlalchemy.sql.functions import FunctionElement

from referee.db.driver_errors import raise_as_sqlalchemy

Result = TypeVar("Result")
Row = tuple[Any, ...]
Convert = Callable[[Any], Any]
Values = Mapping[str, Any]
Statement = Select[Any] | Insert | Update | Delete

NO_VALUES: Final[Values] = {}


class _Compiled(NamedTuple):
    """Hold a statement for one kind of database, with the functions that convert its parameters and results."""

    sql: str
    positions: Sequence[str] | None  # parameters in order; None where the driver takes them by name
    constants: Values  # parameters that the statement itself has values for, as the driver takes them
    to_driver: Sequence[tuple[str, Convert]]
    from_driver: Sequence[tuple[int, Convert]]

    def parameters(self, values: Values) -> Any:
        given = {**self.constants, **values}
        for name, convert in self.to_driver:
            given[name] = convert(given[name])
        return given if self.positions is None else [given[name] for name in self.positions]

    def convert_rows(self, rows: list[Row]) -> list[Row]:
        return [self._convert_row(row) for row in rows] if self.from_driver else rows

    def _convert_row(self, row: Row) -> Row:
        values = list(row)
        for index, convert in self.from_driver:
            values[index] = convert(values[index])
        return tuple(values)


class Prepared:
    """Execute one statement, compiled once for each kind of database.

    Where SQLAlchemy needs different objects for them, as for upserts, pass a mapping from names of dialects.
    Every value is a named ``bindparam`` or a constant of the statement; an ``Insert`` names its columns through
    ``values``. Defaults of columns that Python computes and expanding parameters are refused with ``ValueError``; for a
    list of texts there is ``list_parameter``.
    Pending changes of the session are not flushed first. Errors are those of SQLAlchemy.
    """

    def __init__(self, statement: Statement | Mapping[str, Statement]) -> None:
        self._statement = statement
        self._by_dialect: dict[str, _Compiled] = {}
        _STATEMENTS.append(self)

    def rows(self, session: Session, values: Values = NO_VALUES) -> list[Row]:
        """Execute the statement once and return its rows."""
        return self.rows_of_each(session, [values])[0]

    def rows_of_each(self, session: Session, batch: Sequence[Values]) -> list[list[Row]]:
        """Execute the statement for each of ``batch`` and return the rows of each execution."""
        return self._run(session, batch, lambda compiled, cursor: compiled.convert_rows(cursor.fetchall()))

    def execute(self, session: Session, values: Values = NO_VALUES) -> int:
        """Execute the statement once and return how many rows it changed."""
        return self.execute_each(session, [values])[0]

    def execute_each(self, session: Session, batch: Sequence[Values]) -> list[int]:
        """Execute the statement for each of ``batch`` and return how many rows each execution changed."""
        return self._run(session, batch, lambda _, cursor: cursor.rowcount)

    def execute_all(self, session: Session, batch: Sequence[Values]) -> None:
        """Execute the statement for each of ``batch`` in the fastest way that the driver offers."""
        if len(batch) < 2:
            self.execute_each(session, batch)
            return
        driver, compiled = self._prepare(session)
        try:
            driver.cursor().executemany(compiled.sql, [compiled.parameters(values) for values in batch])
        except Exception as error:
            raise_as_sqlalchemy(error, compiled.sql, batch)
            raise

    def _run(self, session: Session, batch: Sequence[Values], read: Callable[[_Compiled, Any], Result]) -> list[Result]:
        """Execute the statement for each of ``batch``. On PostgreSQL all executions together take one round trip."""
        if not batch:
            return []
        driver, compiled = self._prepare(session)
        parameters = [compiled.parameters(values) for values in batch]
        try:
            if len(batch) > 1 and hasattr(driver, "pipeline"):
                with driver.pipeline():
                    cursors = [driver.execute(compiled.sql, given) for given in parameters]
                return [read(compiled, cursor) for cursor in cursors]
            # SQLite's driver would compile the statement again while an earlier cursor still has rows.
            return [read(compiled, driver.execute(compiled.sql, given)) for given in parameters]
        except Exception as error:
            raise_as_sqlalchemy(error, compiled.sql, batch)
            raise

    def _prepare(self, session: Session) -> tuple[Any, _Compiled]:
        """Return the connection of the driver and the statement compiled for it."""
        if "driver" not in session.info:
            use_driver_of(session.connection(), session)
        driver, dialect = session.info["driver"]
        return driver, self._by_dialect.get(dialect.name) or self.compile(dialect)

    def compile(self, dialect: Dialect) -> _Compiled:
        """Compile the statement for databases of this kind."""
        statement = self._statement[dialect.name] if isinstance(self._statement, Mapping) else self._statement
        compiled = self._by_dialect[dialect.name] = _compile(statement, dialect)
        return compiled


def use_driver_of(connection: Connection, session: Session) -> None:
    """Let prepared statements of the session use the driver of this connection, without beginning its transaction."""
    session.info["driver"] = connection.connection.dbapi_connection, connection.dialect


_STATEMENTS: Final[list[Prepared]] = []


def compile_all(dialect: Dialect) -> None:
    """Compile all statements of the imported modules, so that children forked afterwards need not."""
    for statement in _STATEMENTS:
        statement.compile(dialect)


def insert_columns(table: Table, *, without: Collection[str] = ()) -> Insert:
    """Return an ``INSERT`` with a parameter for every column except those in ``without``."""
    return insert(table).values(_parameters(table, without))


def upsert_columns(table: Table, *, key: Sequence[str], add: Collection[str] = ()) -> Mapping[str, Insert]:
    """Return an upsert with a parameter for every column, for each kind of database.

    Where a row with this ``key`` exists, replace its other columns; add to those that ``add`` names.
    """
    return {
        "sqlite": _upsert(sqlite.insert, table, key, add),
        "postgresql": _upsert(postgresql.insert, table, key, add),
    }


def _upsert(insert: Callable[..., Any], table: Table, key: Sequence[str], add: Collection[str]) -> Insert:
    """Return the upsert that ``insert``, the function of one dialect, begins."""
    added = insert(table).values(_parameters(table))
    changes = {
        column.name: column + added.excluded[column.name] if column.name in add else added.excluded[column.name]
        for column in table.c
        if column.name not in key
    }
    upsert: Insert = added.on_conflict_do_update(index_elements=key, set_=changes)
    return upsert


def _parameters(table: Table, without: Collection[str] = ()) -> dict[str, BindParameter[Any]]:
    return {column.name: bindparam(column.name) for column in table.c if column.name not in without}


def list_parameter(name: str) -> Select[str]:
    """Return a query for the texts of a parameter that is a list, for use with ``in_`` and ``not_in``.

    SQLite's planner assumes 25 texts. Where the query could also use an index on another column, make that impossible.
    """
    texts = _JsonTexts(bindparam(name, type_=JSON)).table_valued(column("value", String))
    return select(texts.c.value)


class _JsonTexts(FunctionElement[Any]):
    """Represent the function of each database that returns the elements of a JSON array as rows."""

    inherit_cache = True


@compiles(_JsonTexts, "sqlite")
def _compile_for_sqlite(texts: _JsonTexts, compiler: Any, **options: Any) -> str:
    return f"json_each({compiler.process(texts.clauses, **options)})"


@compiles(_JsonTexts, "postgresql")
def _compile_for_postgresql(texts: _JsonTexts, compiler: Any, **options: Any) -> str:
    return f"json_array_elements_text({compiler.process(texts.clauses, **options)})"


def _compile(statement: Statement, dialect: Dialect) -> _Compiled:
    compiled: Any = statement.compile(dialect=dialect)
    if compiled.insert_prefetch or compiled.update_prefetch or compiled.post_compile_params:
        raise ValueError(f"not a statement that can be prepared: {compiled}")
    to_driver = {
        name: convert
        for name, bind in compiled.binds.items()
        if (convert := bind.type.dialect_impl(dialect).bind_processor(dialect)) is not None
    }
    from_driver = [
        (index, convert)
        for index, column in enumerate(statement.exported_columns)
        if (convert := column.type.dialect_impl(dialect).result_processor(dialect, None)) is not None
    ]
    constants = {name: bind.effective_value for name, bind in compiled.binds.items() if not bind.required}
    for name in constants.keys() & to_driver.keys():
        constants[name] = to_driver.pop(name)(constants[name])
    positions = compiled.positiontup if compiled.positional else None
    return _Compiled(str(compiled), positions, constants, list(to_driver.items()), from_driver)
