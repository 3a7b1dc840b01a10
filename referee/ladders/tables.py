"""Define the tables of ladders, of the rating ledger, and of the ratings derived from it."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import AutoIncrement, Base, Id, Json, ShortString, StoredEnum, one_of
from referee.ladders.kinds import EntryKind


class Ladder(Base):
    """Represent a ladder. Each combination of game, options and number of seats has one."""

    __tablename__ = "ladders"
    __table_args__ = (UniqueConstraint("game", "options_key", "seats"),)

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    game: Mapped[str] = mapped_column(ShortString)
    options: Mapped[Json]
    options_key: Mapped[str] = mapped_column(String(64))
    seats: Mapped[int]
    created_at: Mapped[datetime]
    frozen_reason: Mapped[str | None] = mapped_column(Text)  # finding of an audit, until the ladder is repaired


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
    match_id: Mapped[str | None] = mapped_column(ForeignKey("matches.id"))  # None for a repair
    reason: Mapped[str | None] = mapped_column(Text)
    created_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[datetime]


class Rating(Base):
    """Represent the rating of a bot on a ladder, in micro-points."""

    __tablename__ = "ratings"

    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True, index=True)
    value: Mapped[int] = mapped_column(BigInteger)
    games: Mapped[int]
    as_of_seq: Mapped[int] = mapped_column(BigInteger)


Index(None, Rating.ladder_id, Rating.value.desc(), Rating.bot_id)


class RatingCount(Base):
    """Represent the number of bots in a band of ratings, so that a rank is a sum over few bands on any ladder."""

    __tablename__ = "rating_counts"

    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"), primary_key=True)
    width: Mapped[int] = mapped_column(BigInteger, primary_key=True)  # micro-points
    band: Mapped[int] = mapped_column(primary_key=True)  # value // width
    bots: Mapped[int]


class RatingChange(Base):
    """Represent a change of a rating by a ledger entry. In a repair, ``before`` is the wrong value that was stored."""

    __tablename__ = "rating_changes"
    __table_args__ = (Index(None, "ladder_id", "bot_id", "seq"),)

    seq: Mapped[int] = mapped_column(BigInteger, ForeignKey("ledger_entries.seq"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    ladder_id: Mapped[str] = mapped_column(ForeignKey("ladders.id"))
    before: Mapped[int] = mapped_column(BigInteger)
    after: Mapped[int] = mapped_column(BigInteger)
    games: Mapped[int]  # matches of the bot that count after the entry
