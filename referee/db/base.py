"""Define the declarative base and the column types of all tables: UTC times, enums, names of constraints, lengths."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar, TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator

Json = dict[str, Any]
Member = TypeVar("Member", bound=StrEnum)


class UtcTime(TypeDecorator[datetime]):
    """Store times in UTC on both kinds of database and read them as aware datetimes. Refuse naive times."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @property
    def python_type(self) -> type[datetime]:
        return datetime

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class StoredEnum(TypeDecorator[Member]):
    """Store members of an enum as their values and read them back as members."""

    impl = String(40)
    cache_ok = True

    def __init__(self, members: type[Member]) -> None:
        super().__init__()
        self.members = members
        by_value: dict[str | None, Member | None] = {None: None, **{member.value: member for member in members}}
        self._read = by_value.__getitem__

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[str | None], Member | None]:
        return self._read  # called for every row, so a built-in method, not a Python function


def new_metadata() -> MetaData:
    """Return the collection of the tables of one schema. It names constraints, so that migrations can refer to them."""
    return MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class StoredWord(TypeDecorator[str]):
    """Store members of enums as their values, where extras add values of their own. Read them back as strings."""

    impl = String(40)
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value)


class Base(DeclarativeBase):
    """Provide the base class of the tables.

    The tables of an extra have an abstract subclass of it with a ``metadata`` of their own, and refer to other tables
    by column (``ForeignKey(Account.id)``).
    """

    __table__: ClassVar[Table]  # with this type, statements on the tables themselves need no cast
    metadata = new_metadata()
    type_annotation_map = {  # noqa: RUF012  # SQLAlchemy declares it as an instance attribute
        datetime: UtcTime(),
        dict[str, Any]: JSON(none_as_null=True),
        list[Any]: JSON(none_as_null=True),
        bytes: LargeBinary(),
    }


Id = String(40)
Name = String(64)
Title = String(80)  # names of tournaments
ShortString = String(40)  # names of games, versions
AutoIncrement = BigInteger().with_variant(Integer(), "sqlite")  # SQLite autoincrements INTEGER keys only


def one_of(column: str, values: Iterable[str]) -> CheckConstraint:
    """Return a constraint that limits ``column`` to ``values``, such as the members of an enum."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)
