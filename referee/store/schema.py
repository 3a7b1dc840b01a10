"""The tables of the record, as typed models. What may be done with them stands in the files beside this one."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

Json = dict[str, Any]

MATCH_STATES = ("waiting", "due", "running", "finished", "cancelled", "stuck", "void")
BOT_STATES = ("unverified", "verified", "paused", "retired")
CHECK_STATES = ("idle", "due", "running")
GROUP_STATES = ("new", "open", "over")
TOURNAMENT_STATES = ("draft", "open", "running", "paused", "finished", "cancelled")
ROLES = ("owner", "organiser", "admin")


class UtcTime(TypeDecorator[datetime]):
    """Times in UTC: stored so on both databases, read back aware of it."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} lacks its time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """Root of the tables; constraints have names by rule, so that a migration can address them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012  # declared so by SQLAlchemy
        datetime: UtcTime(),
        dict[str, Any]: JSON(none_as_null=True),
        list[Any]: JSON(none_as_null=True),
        bytes: LargeBinary(),
    }


Id = String(40)
Name = String(64)
Word = String(40)  # one of a few
Counted = BigInteger().with_variant(Integer(), "sqlite")  # SQLite counts up by itself in INTEGER keys only


def one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    """The column holds one of these words."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


# -- people --


class Account(Base):
    """Somebody who may ask for something."""

    __tablename__ = "accounts"
    __table_args__ = (one_of("role", ROLES),)

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(Name)
    name_key: Mapped[str] = mapped_column(String(128), unique=True)
    role: Mapped[str] = mapped_column(Word)
    created_at: Mapped[datetime]


class Token(Base):
    """A key to an account; only its hash is kept."""

    __tablename__ = "tokens"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str] = mapped_column(Name)
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    hint: Mapped[str] = mapped_column(Word)
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Idempotency(Base):
    """The answer given to a request that its client marked with a key."""

    __tablename__ = "idempotency"

    account_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    body_hash: Mapped[str] = mapped_column(String(64))
    status: Mapped[int | None]
    body: Mapped[bytes | None]
    created_at: Mapped[datetime] = mapped_column(index=True)


# -- bots --


class Bot(Base):
    """A registered endpoint. ``url`` is what the owner wants, ``proven_url`` what answered the challenge."""

    __tablename__ = "bots"
    __table_args__ = (
        one_of("status", BOT_STATES),
        one_of("check_state", CHECK_STATES),
        Index(None, "check_state", "check_due_at"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str] = mapped_column(Name)
    name_key: Mapped[str] = mapped_column(String(128), unique=True)
    url: Mapped[str] = mapped_column(String(2048))
    proven_url: Mapped[str | None] = mapped_column(String(2048))
    host: Mapped[str] = mapped_column(String(255), index=True)
    status: Mapped[str] = mapped_column(Word)
    status_reason: Mapped[str | None] = mapped_column(Text)
    version: Mapped[str | None] = mapped_column(String(128))
    games: Mapped[list[Any]]
    max_calls: Mapped[int]
    secret_generation: Mapped[int]
    previous_secret_until: Mapped[datetime | None]
    revision: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(index=True)
    check_state: Mapped[str] = mapped_column(Word)
    check_due_at: Mapped[datetime | None]
    check_epoch: Mapped[int]
    checks_lost: Mapped[int]  # claims of this check in a row whose claimer died
    check_report: Mapped[Json | None]
    checked_at: Mapped[datetime | None]
    lease_boot: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[float | None]


# -- matches --


class Group(Base):
    """Matches that replay the same cards; nearly always one alone."""

    __tablename__ = "deal_groups"
    __table_args__ = (one_of("state", GROUP_STATES),)

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    commitment: Mapped[str] = mapped_column(String(64))
    seed_sealed: Mapped[bytes]
    state: Mapped[str] = mapped_column(Word, index=True)
    entries: Mapped[list[Any]]  # bot ids
    nonce_hashes: Mapped[list[Any] | None]  # by entry, "" for an absent one
    nonces: Mapped[list[Any] | None]
    tournament_id: Mapped[str | None] = mapped_column(ForeignKey("tournaments.id"), index=True)
    epoch: Mapped[int]
    lease_boot: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[float | None]
    created_at: Mapped[datetime]


class Match(Base):
    """One match: what is played, how far it is, and who may write to it now."""

    __tablename__ = "matches"
    __table_args__ = (
        one_of("status", MATCH_STATES),
        Index(None, "status", "created_at", "id"),
        Index(None, "created_at", "id"),
        Index(None, "tournament_id", "stage", "table_no"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    game: Mapped[str] = mapped_column(Word, index=True)
    rules_version: Mapped[int]
    engine_version: Mapped[str] = mapped_column(Word)
    options: Mapped[Json]
    seats: Mapped[int]
    budget_ms: Mapped[int]
    bank_ms: Mapped[int]
    rated: Mapped[bool]
    status: Mapped[str] = mapped_column(Word)
    epoch: Mapped[int]
    lease_boot: Mapped[str | None] = mapped_column(String(64))
    lease_until: Mapped[float | None]
    lost_claims: Mapped[int]
    claims_without_progress: Mapped[int]
    rows: Mapped[int]  # of its log, recorded so far
    group_id: Mapped[str] = mapped_column(ForeignKey("deal_groups.id"), index=True)
    tournament_id: Mapped[str | None] = mapped_column(ForeignKey("tournaments.id"))
    stage: Mapped[int | None]
    table_no: Mapped[int | None]
    created_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    reason: Mapped[str | None] = mapped_column(Text)


class MatchSeat(Base):
    """A place in a match. Name, version and address are the ones the match was started with."""

    __tablename__ = "match_seats"

    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), index=True)
    bot_name: Mapped[str] = mapped_column(Name)
    version: Mapped[str | None] = mapped_column(String(128))
    url: Mapped[str | None] = mapped_column(String(2048))
    faults: Mapped[int]
    placement: Mapped[int | None]
    returns: Mapped[int | None] = mapped_column(BigInteger)


class LogRow(Base):
    """A row of the log of a match that is being played."""

    __tablename__ = "log_rows"

    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True)
    line: Mapped[bytes]


class SealedAnswer(Base):
    """An answer that waits for the others of its decision point; the runner alone reads it."""

    __tablename__ = "sealed_answers"

    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    answer: Mapped[Json]


class MatchLog(Base):
    """The log of a match that is over. ``digest`` is the hash of its last line, which chains all before it."""

    __tablename__ = "match_logs"

    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)
    packed: Mapped[bytes]  # gzip of the lines, each with its line end
    reveal_line: Mapped[bytes | None]
    digest: Mapped[str] = mapped_column(String(64))
    rows: Mapped[int]


class Fault(Base):
    """Evidence of what a bot did wrong, for its owner."""

    __tablename__ = "faults"
    __table_args__ = (Index(None, "match_id", "id"), Index(None, "bot_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Counted, primary_key=True)
    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"))
    n: Mapped[int]
    seat: Mapped[int]
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"))
    code: Mapped[str] = mapped_column(Word)
    detail: Mapped[str] = mapped_column(Text)
    request: Mapped[bytes | None]
    reply: Mapped[bytes | None]
    timing: Mapped[Json | None]
    created_at: Mapped[datetime]


# -- results and ladders --


class Result(Base):
    """What came of a match. ``seq`` is the order in which results count, whatever any clock says."""

    __tablename__ = "results"
    __table_args__ = (Index(None, "ladder_id", "seq"), {"sqlite_autoincrement": True})

    seq: Mapped[int] = mapped_column(Counted, primary_key=True)
    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), unique=True)
    ladder_id: Mapped[str | None] = mapped_column(ForeignKey("ladders.id"))  # None: not rated
    bots: Mapped[list[Any]]
    placements: Mapped[list[Any]]
    returns: Mapped[list[Any]]
    scores: Mapped[list[Any]]
    digest: Mapped[str] = mapped_column(String(64))
    engine_version: Mapped[str] = mapped_column(Word)
    finished_at: Mapped[datetime]


class Ladder(Base):
    """A ranking: one for each game, set of options and number of seats."""

    __tablename__ = "ladders"
    __table_args__ = (UniqueConstraint("game", "options_key", "seats"),)

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    game: Mapped[str] = mapped_column(Word)
    options: Mapped[Json]
    options_key: Mapped[str] = mapped_column(String(64))
    seats: Mapped[int]
    created_at: Mapped[datetime]


class Rating(Base):
    """Where a bot stands on a ladder, in millionths of a point."""

    __tablename__ = "ratings"

    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True, index=True)
    value: Mapped[int] = mapped_column(BigInteger)
    games: Mapped[int]
    as_of_seq: Mapped[int] = mapped_column(BigInteger)


Index(None, Rating.ladder_id, Rating.value.desc(), Rating.bot_id)


class RatingChange(Base):
    """What a result did to a rating."""

    __tablename__ = "rating_changes"
    __table_args__ = (Index(None, "ladder_id", "bot_id", "seq"),)

    seq: Mapped[int] = mapped_column(BigInteger, ForeignKey("results.seq"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"))
    before: Mapped[int] = mapped_column(BigInteger)
    after: Mapped[int] = mapped_column(BigInteger)


# -- tournaments --


class Tournament(Base):
    """An event: entries, a format, and the matches that follow from them."""

    __tablename__ = "tournaments"
    __table_args__ = (one_of("status", TOURNAMENT_STATES), Index(None, "created_at", "id"))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    name: Mapped[str] = mapped_column(Name)
    game: Mapped[str] = mapped_column(Word)
    options: Mapped[Json]
    seats: Mapped[int]
    format: Mapped[str] = mapped_column(Word)
    cycles: Mapped[int]
    rated: Mapped[bool]
    budget_ms: Mapped[int]
    bank_ms: Mapped[int]
    status: Mapped[str] = mapped_column(Word, index=True)
    created_by: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    revision: Mapped[int]


class TournamentEntry(Base):
    """A bot in a tournament; ``number`` is the order of entry."""

    __tablename__ = "tournament_entries"
    __table_args__ = (UniqueConstraint("tournament_id", "number"),)

    tournament_id: Mapped[str] = mapped_column(ForeignKey("tournaments.id"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True, index=True)
    number: Mapped[int]
    withdrawn_at: Mapped[datetime | None]
