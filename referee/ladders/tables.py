"""Define the tables of ladders, their members, the rating ledger, and the ratings derived from it."""

from datetime import date, datetime
from typing import Any, Final

from sqlalchemy import BigInteger, Double, ForeignKey, ForeignKeyConstraint, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import AutoIncrement, Base, Id, Json, Name, ShortString, StoredEnum, one_of
from referee.ladders.kinds import EntryKind, LadderPlay
from referee.ratings.elo import PROVISIONAL_GAMES

MAX_LADDER_NAME: Final = 400
_JOINED: Final = text("due_at IS NOT NULL")


class Ladder(Base):
    """Represent a ladder. Each combination of game, options and number of seats has one.

    An official ladder is one that the service itself plays: a game has one that is listed. The others are variants.
    """

    __tablename__ = "ladders"
    __table_args__ = (UniqueConstraint("game", "options_key", "seats"),)

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    game: Mapped[str] = mapped_column(ShortString)
    options: Mapped[Json]
    options_key: Mapped[str] = mapped_column(String(64))
    seats: Mapped[int]
    name: Mapped[str] = mapped_column(String(MAX_LADDER_NAME), unique=True)
    official: Mapped[bool]
    unlisted: Mapped[bool] = mapped_column(default=False)  # then it is in no list, and bots join at their owner's wish
    daily_matches: Mapped[int | None]  # of each bot; None for a variant
    created_at: Mapped[datetime]
    frozen_reason: Mapped[str | None] = mapped_column(Text)  # finding of an audit, until it is corrected
    exchange_day: Mapped[int] = mapped_column(default=0)  # of its ``DailyExchange`` rows, as a ``date.toordinal``
    errors_seq: Mapped[int] = mapped_column(BigInteger, default=0)  # last ledger entry that all ``RatingError`` include
    results: Mapped[int] = mapped_column(BigInteger, default=0)  # number of matches that count on it


class LadderPlayer(Base):
    """Store what the owner of a bot has chosen about official ladders, and the bot's last match on any of them."""

    __tablename__ = "ladder_players"
    __table_args__ = (one_of("play", LadderPlay),)

    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    play: Mapped[LadderPlay] = mapped_column(StoredEnum(LadderPlay))
    games: Mapped[list[Any] | None]  # whose listed ladder it plays on; None: all games of its manifest
    unlisted: Mapped[list[Any]] = mapped_column(default=list)  # ids of the unlisted ladders that it plays on
    daily_maximum: Mapped[int | None]  # matches a day on all ladders together; None: the pace of each ladder
    match_id: Mapped[str | None] = mapped_column(ForeignKey("matches.id"))


class LadderMember(Base):
    """Store that a bot plays on an official ladder, and when it gets its next match there."""

    __tablename__ = "ladder_members"
    __table_args__ = (
        Index("ix_ladder_members_ladder_due", "ladder_id", "due_at", sqlite_where=_JOINED, postgresql_where=_JOINED),
        Index("ix_ladder_members_due", "due_at", "ladder_id", sqlite_where=_JOINED, postgresql_where=_JOINED),
    )

    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"), primary_key=True)
    joined_at: Mapped[datetime]
    due_at: Mapped[datetime | None]  # None after it has left the ladder
    last_match_at: Mapped[datetime | None]
    matches: Mapped[int]  # matches made by the service
    day: Mapped[date | None]  # the day, in UTC, to which ``matches_of_day`` refers
    matches_of_day: Mapped[int]
    extra_of_day: Mapped[int] = mapped_column(default=0)  # those of them that do not count towards the pace
    immediate_until: Mapped[int] = mapped_column(
        default=PROVISIONAL_GAMES
    )  # number of matches until it plays at the pace
    matches_since_house: Mapped[int]  # since the last one with a house player
    seat_counts: Mapped[list[Any]]  # matches by seat
    recent_opponents: Mapped[list[Any]]  # bot ids, latest last
    owners_met: Mapped[Json]  # meetings with bots of each other owner on ``day``, keyed by owner id


class LedgerEntry(Base):
    """Represent an entry of the append-only rating ledger: a result, a void or a repair.

    ``seq`` orders the entries of all ladders. Results of a deal group are entered together, when the group closes.
    """

    __tablename__ = "ledger_entries"
    __table_args__ = (
        one_of("kind", EntryKind),
        UniqueConstraint("match_id", "kind"),
        Index(None, "ladder_id", "seq"),
        {"sqlite_autoincrement": True},
    )

    seq: Mapped[int] = mapped_column(AutoIncrement, primary_key=True)
    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"))
    kind: Mapped[EntryKind] = mapped_column(StoredEnum(EntryKind))
    rating_rules: Mapped[int]  # by which a result changes ratings; see ``rating_replay``
    match_id: Mapped[str | None] = mapped_column(ForeignKey("matches.id"))  # None for a repair
    reason: Mapped[str | None] = mapped_column(Text)
    created_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[datetime]


class Rating(Base):
    """Represent the rating of a bot on a ladder, in micro-points. ``rating_replay.RatingState`` explains its state."""

    __tablename__ = "ratings"

    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True, index=True)
    value: Mapped[int] = mapped_column(BigInteger)
    games: Mapped[int]
    balance: Mapped[int] = mapped_column(BigInteger, default=0)
    information: Mapped[int] = mapped_column(BigInteger, default=0)
    version: Mapped[str | None] = mapped_column(String(128))
    last_day: Mapped[int] = mapped_column(default=0)
    as_of_seq: Mapped[int] = mapped_column(BigInteger)


Index(None, Rating.ladder_id, Rating.value.desc(), Rating.bot_id)


class RatingError(Base):
    """Represent half the width of the 95 % interval of the rating of a bot, in points.

    It includes the results up to ledger entry ``as_of_seq``. ``rating_errors`` computes these rows again at any time.
    """

    __tablename__ = "rating_errors"

    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    error: Mapped[float] = mapped_column(Double)
    as_of_seq: Mapped[int] = mapped_column(BigInteger)


class AuditRun(Base):
    """Represent the audit of a night, which compares all ladders and a part of the logs.

    ``after`` is the id of the last match compared; the next night goes on after it. ``findings`` describe the first
    differences.
    """

    __tablename__ = "audit_runs"

    day: Mapped[date] = mapped_column(primary_key=True)  # in UTC
    started_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    after: Mapped[str] = mapped_column(Id)
    logs: Mapped[int]
    differences: Mapped[int]
    findings: Mapped[list[Any]]
    not_replayable: Mapped[int] = mapped_column(default=0)  # logs that are signed, but were deleted


class LadderMonth(Base):
    """Represent a month of a ladder that is over. Its final standings are those after ledger entry ``as_of_seq``.

    ``month`` is its first day, in UTC. ``matches`` counts the results of the month, with those that were voided later.
    """

    __tablename__ = "ladder_months"

    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"), primary_key=True)
    month: Mapped[date] = mapped_column(primary_key=True)
    as_of_seq: Mapped[int] = mapped_column(BigInteger)
    bots: Mapped[int]
    matches: Mapped[int]
    champion_id: Mapped[str | None] = mapped_column(ForeignKey("bots.id"), index=True)  # None if no bot qualified
    closed_at: Mapped[datetime]


class MonthRow(Base):
    """Represent a bot in the final standings of a month, with the names of that time."""

    __tablename__ = "ladder_month_rows"
    __table_args__ = (ForeignKeyConstraint(["ladder_id", "month"], ["ladder_months.ladder_id", "ladder_months.month"]),)

    ladder_id: Mapped[str] = mapped_column(Id, primary_key=True)
    month: Mapped[date] = mapped_column(primary_key=True)
    rank: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Name)
    owner_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"))
    owner_name: Mapped[str] = mapped_column(Name)
    value: Mapped[int] = mapped_column(BigInteger)
    error: Mapped[float | None] = mapped_column(Double)  # as known when the month was closed, in points
    games: Mapped[int]  # matches that counted until then
    matches: Mapped[int]  # those of the month


class RatingCount(Base):
    """Represent the number of bots in a band of ratings, so that a rank is a sum over bands on any ladder."""

    __tablename__ = "rating_counts"

    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"), primary_key=True)
    band: Mapped[int] = mapped_column(primary_key=True)  # value // ``ranks.BAND``
    bots: Mapped[int]


class DailyExchange(Base):
    """Represent what two parties exchanged on the ladder's ``exchange_day``, in micro-points.

    ``gain`` is the net gain of ``owner_id`` from ``party``: another owner with a smaller id, or "" for all anchors.
    """

    __tablename__ = "daily_exchanges"

    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"), primary_key=True)
    party: Mapped[str] = mapped_column(Id, primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    gain: Mapped[int] = mapped_column(BigInteger)


class OwnerExchange(Base):
    """Represent what the bots of two owners exchanged on a ladder in a month; ``owner_exchanges`` explains the sums.

    ``party`` and ``owner_id`` are as in ``DailyExchange``, and ``gain`` is that of ``owner_id``, in micro-points.
    """

    __tablename__ = "owner_exchanges"

    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"), primary_key=True)
    month: Mapped[date] = mapped_column(primary_key=True)  # its first day, in UTC
    party: Mapped[str] = mapped_column(Id, primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    encounters: Mapped[int]
    gain: Mapped[int] = mapped_column(BigInteger)
    variance: Mapped[int] = mapped_column(BigInteger)  # of the gain by chance, in thousandths of squared points
    excess: Mapped[float] = mapped_column(Double)  # square of the gain in units of what chance explains


Index(
    "ix_owner_exchanges_excess",
    OwnerExchange.ladder_id,
    OwnerExchange.month,
    OwnerExchange.excess.desc(),
    OwnerExchange.party,
    OwnerExchange.owner_id,
)


class RatingChange(Base):
    """Represent a change of a rating by a result or a void, to a whole ``rating_replay.RatingState``."""

    __tablename__ = "rating_changes"
    __table_args__ = (Index(None, "ladder_id", "bot_id", "seq"),)

    seq: Mapped[int] = mapped_column(BigInteger, ForeignKey("ledger_entries.seq"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"))
    before: Mapped[int] = mapped_column(BigInteger)
    after: Mapped[int] = mapped_column(BigInteger)
    games: Mapped[int]  # matches of the bot that count after the entry
    balance: Mapped[int] = mapped_column(BigInteger, default=0)
    information: Mapped[int] = mapped_column(BigInteger, default=0)
    version: Mapped[str | None] = mapped_column(String(128))
    last_day: Mapped[int] = mapped_column(default=0)
