"""Define the tables of matches: deal groups, seats, log rows, results and faults."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ColumnElement, ForeignKey, Index, String, Text, and_, text
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import AutoIncrement, Base, Id, Json, Name, ShortString, StoredEnum, one_of
from referee.db.leases import Leased
from referee.match.reveal import OpeningFailure
from referee.matches.states import QUEUED, DealGroupState, DealSharing, MatchState, VoidState

CLAIM_ORDER = ("created_at", "tournament_round", "table_no", "leg", "id")  # the order in which matches are played


def _partial_index(name: str, rows: str, *columns: str) -> Index:
    """Return a partial index on the rows that meet the SQL condition ``rows``.

    A query can use the index only if it contains this condition literally.
    """
    return Index(name, *columns, sqlite_where=text(rows), postgresql_where=text(rows))


class DealGroup(Leased, Base):
    """Store what matches with the same cards have in common.

    The matches are a single match, tables of a round, or matches of the same bots in different seats.
    """

    __tablename__ = "deal_groups"
    __table_args__ = (
        one_of("state", DealGroupState),
        one_of("kind", DealSharing),
        _partial_index("ix_deal_groups_superseded", "superseded_by IS NOT NULL", "superseded_by"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    commitment: Mapped[str] = mapped_column(String(64))
    seed_sealed: Mapped[bytes]
    state: Mapped[DealGroupState] = mapped_column(StoredEnum(DealGroupState), index=True)
    kind: Mapped[DealSharing] = mapped_column(StoredEnum(DealSharing), default=DealSharing.OWN)
    entries: Mapped[list[Any]]  # bot ids
    nonce_hashes: Mapped[list[Any] | None]  # one per entry, "" for a bot without one
    nonces: Mapped[list[Any] | None]
    accepted: Mapped[list[Any] | None]  # one per entry: true, or null without an answer; null before there was a step 3
    opening_number: Mapped[int] = mapped_column(default=1)
    left_out: Mapped[list[Any]] = mapped_column(default=list)  # entries that ended earlier openings: not asked again
    superseded_by: Mapped[str | None] = mapped_column(Id)  # the group that has its matches since its opening ended
    tournament_id: Mapped[str | None] = mapped_column(ForeignKey("tournaments.id"), index=True)
    created_at: Mapped[datetime]

    @property
    def revealed_entries(self) -> list[Any] | None:
        """Return the ids of the bots that were asked for nonces, or None before the group is revealed."""
        return self.entries if self.state == DealGroupState.REVEALED else None


class FailedNonce(Base):
    """Store that a bot ended an opening, with the request and the reply for its owner."""

    __tablename__ = "failed_nonces"
    __table_args__ = (one_of("code", OpeningFailure), Index(None, "bot_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(AutoIncrement, primary_key=True)
    group_id: Mapped[str] = mapped_column(ForeignKey("deal_groups.id"), index=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"))
    code: Mapped[OpeningFailure] = mapped_column(StoredEnum(OpeningFailure))
    detail: Mapped[str] = mapped_column(Text)
    request: Mapped[bytes]
    reply: Mapped[bytes]
    created_at: Mapped[datetime]


class StoredMatch(Leased, Base):
    """Store the terms, the progress and the current claim of a match."""

    __tablename__ = "matches"
    __table_args__ = (
        one_of("status", MatchState),
        Index(None, "status", "created_at", "id"),
        Index(None, "created_at", "id"),
        Index(None, "tournament_id", "tournament_round", "table_no"),
        # These indexes for runners stay small however many matches have ended. The status comes first although it is
        # constant, because otherwise SQLite would prefer the index above.
        _partial_index("ix_matches_due", "status = 'due'", "status", "created_by", *CLAIM_ORDER),
        _partial_index("ix_matches_kept_logs", "ladder_id IS NOT NULL AND log_deleted_at IS NULL", "finished_at"),
        _partial_index("ix_matches_lost", "lost_claims > 1", "status", "lost_claims"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    game: Mapped[str] = mapped_column(ShortString, index=True)
    rules_version: Mapped[int]
    engine_version: Mapped[str] = mapped_column(ShortString)
    options: Mapped[Json]
    seats: Mapped[int]
    budget_ms: Mapped[int]
    bank_ms: Mapped[int]
    rated: Mapped[bool]
    listed: Mapped[bool] = mapped_column(default=True)  # false for a match of an unlisted tournament or ladder
    status: Mapped[MatchState] = mapped_column(StoredEnum(MatchState))
    lost_claims: Mapped[int]
    claims_without_progress: Mapped[int]
    rows: Mapped[int]  # number of log rows recorded so far
    # The questions that were open when a runner handed the match over: {"n": decision point, "ms": {seat: time used}}.
    interrupted: Mapped[Json | None] = mapped_column(JSON(none_as_null=True))
    group_id: Mapped[str] = mapped_column(ForeignKey("deal_groups.id"), index=True)
    tournament_id: Mapped[str | None] = mapped_column(ForeignKey("tournaments.id"))
    tournament_round: Mapped[int | None]
    table_no: Mapped[int | None]
    leg: Mapped[int | None]  # number of the match among those at its table, from 1
    rematch_of: Mapped[str | None] = mapped_column(ForeignKey("matches.id"))
    # The official ladder for which the service made the match. No foreign key: adding one would rebuild the table.
    ladder_id: Mapped[str | None] = mapped_column(Id)
    created_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    log_deleted_at: Mapped[datetime | None]  # see ``log_pruning``
    log_deleted_rule: Mapped[str | None] = mapped_column(String(128))  # by which rule, in words
    reason: Mapped[str | None] = mapped_column(Text)

    @property
    def is_friendly(self) -> bool:
        """Return whether this is a friendly: an unrated match that an account arranged outside tournaments.

        ``friendly`` is the condition in SQL.
        """
        return self.tournament_id is None and self.ladder_id is None and not self.rated


class MatchSeat(Base):
    """Store a seat of a match. The name, version and address of the bot are those at the start of the match."""

    __tablename__ = "match_seats"
    __table_args__ = (Index(None, "bot_id", "match_id"),)

    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"))
    entrant_id: Mapped[str | None] = mapped_column(ForeignKey("bots.id"))  # the bot that a substitute replaces
    rated: Mapped[bool] = mapped_column(default=True)  # whether it counts if the match is rated
    bot_name: Mapped[str] = mapped_column(Name)
    version: Mapped[str | None] = mapped_column(String(128))
    url: Mapped[str | None] = mapped_column(String(2048))
    faults: Mapped[int]
    placement: Mapped[int | None]
    returns: Mapped[int | None] = mapped_column(BigInteger)

    @property
    def entrant(self) -> str:
        """Return the id of the bot to which the seat belongs, even if a substitute plays in the seat."""
        return self.entrant_id or self.bot_id


class QueuedSeat(Base):
    """List the bots of due matches, so that a bot finds its next matches however many wait. See ``queued_seats``.

    A bot with several seats in a match has one row, with the first of them.
    """

    __tablename__ = "queued_seats"
    __table_args__ = (
        Index("ix_queued_seats_bot", "bot_id", "lane", *CLAIM_ORDER[:-1], "match_id"),
        _partial_index("ix_queued_seats_lane", "seat = 0", "seat", "lane", *CLAIM_ORDER[:-1], "match_id"),
    )

    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True)
    seat: Mapped[int]
    lane: Mapped[str] = mapped_column(String(64))  # ``shares.Lane``: kind of match and account
    created_at: Mapped[datetime]
    tournament_round: Mapped[int | None]
    table_no: Mapped[int | None]
    leg: Mapped[int | None]


class GroupToClose(Base):
    """List a deal group that may be over, with the match that was cancelled, so that the scheduler closes it.

    The group has no foreign key, whose check would wait for a transaction that closes the group.
    """

    __tablename__ = "groups_to_close"

    group_id: Mapped[str] = mapped_column(Id, primary_key=True)
    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)


class LogRow(Base):
    """Store a row of the log of a match that is being played."""

    __tablename__ = "log_rows"

    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)
    row: Mapped[int] = mapped_column(primary_key=True)
    line: Mapped[bytes]
    recorded_at: Mapped[float]  # seconds since 1970 in UTC
    delays_ms: Mapped[list[float] | None] = mapped_column(JSON(none_as_null=True))  # of each event; None: no delay


class SealedAnswer(Base):
    """Store an answer until all other answers at its decision point have arrived. Only runners read it."""

    __tablename__ = "sealed_answers"

    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    answer: Mapped[Json]


class MatchLog(Base):
    """Store the log of an ended match. ``digest`` is the hash of its last row, which depends on all rows before it.

    Of a log that was deleted (``log_pruning``), ``gzip_log`` is empty and ``reveal_line`` None; the rest remains.
    """

    __tablename__ = "match_logs"

    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)
    gzip_log: Mapped[bytes]  # gzip of the lines, each with its line end
    reveal_line: Mapped[bytes | None]
    digest: Mapped[str] = mapped_column(String(64))
    rows: Mapped[int]


class PublishedKey(Base):
    """Store a public key with which logs are signed, also after it was replaced. ``id`` is derived from the key.

    ``last_number`` is the last entry of the chain that it may have signed, None as long as the key may be used.
    """

    __tablename__ = "signing_keys"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    public_key: Mapped[str] = mapped_column(String(64))  # hex
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    last_number: Mapped[int | None] = mapped_column(BigInteger)


class SignedLog(Base):
    """Store an entry of the chain of signatures. Rows are only ever added. ``chain`` reads and writes them."""

    __tablename__ = "signed_logs"

    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), unique=True)
    log_digest: Mapped[str] = mapped_column(String(64))  # of the log's last row, the reveal
    previous: Mapped[str | None] = mapped_column(String(64))  # digest of the entry before; None in the first entry
    key_id: Mapped[str] = mapped_column(ForeignKey("signing_keys.id"))
    signature: Mapped[str] = mapped_column(String(128))  # hex


class Result(Base):
    """Store the result of a match.

    ``seq`` numbers results in the order in which they were stored, which does not depend on clocks.
    """

    __tablename__ = "results"
    __table_args__ = (Index(None, "ladder_id", "seq"), Index(None, "finished_at"), {"sqlite_autoincrement": True})

    seq: Mapped[int] = mapped_column(AutoIncrement, primary_key=True)
    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), unique=True)
    ladder_id: Mapped[str | None] = mapped_column(ForeignKey("ladders.id"))  # None if the match is not rated
    bots: Mapped[list[Any]]
    entrants: Mapped[list[Any]]  # by seat: the bot, or the bot that it replaces as a substitute
    rated: Mapped[list[Any]]  # by seat: whether the seat counts on the ladder
    placements: Mapped[list[Any]]
    owners: Mapped[list[Any]]  # by seat, None for house players
    versions: Mapped[list[Any]]  # by seat, None for bots that report none
    anchors: Mapped[list[Any]]  # by seat: the constant rating of an anchor in micro-points, None for others
    returns: Mapped[list[Any]]
    scores: Mapped[list[Any]]
    digest: Mapped[str] = mapped_column(String(64))
    engine_version: Mapped[str] = mapped_column(ShortString)
    finished_at: Mapped[datetime]


class MatchVoid(Base):
    """Store the void of a match that had ended, or the proposal of one. ``voids`` reads and writes these rows."""

    __tablename__ = "match_voids"
    __table_args__ = (
        one_of("state", VoidState),
        Index(None, "match_id"),
        Index(None, "tournament_id", "created_at", "id"),
        Index(None, "created_at", "id"),
        Index(
            "ix_match_voids_proposed",
            "match_id",
            unique=True,
            sqlite_where=text("state = 'proposed'"),
            postgresql_where=text("state = 'proposed'"),
        ),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"))
    tournament_id: Mapped[str | None] = mapped_column(ForeignKey("tournaments.id"))
    whole_group: Mapped[bool]  # whether it concerns all matches of the deal group
    rematch: Mapped[bool | None]  # None: if the format needs one and one is possible
    reason: Mapped[str] = mapped_column(Text)
    state: Mapped[VoidState] = mapped_column(StoredEnum(VoidState))
    proposed_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))  # None: the service
    created_at: Mapped[datetime]
    decided_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    decided_at: Mapped[datetime | None]


class Fault(Base):
    """Store a fault of a bot, with the request and the reply for its owner."""

    __tablename__ = "faults"
    __table_args__ = (Index(None, "match_id", "id"), Index(None, "bot_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(AutoIncrement, primary_key=True)
    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"))
    n: Mapped[int]
    seat: Mapped[int]
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"))
    code: Mapped[str] = mapped_column(ShortString)
    detail: Mapped[str] = mapped_column(Text)
    request: Mapped[bytes | None]
    reply: Mapped[bytes | None]
    timing: Mapped[Json | None]
    created_at: Mapped[datetime]


class ReportedError(Base):
    """Count the errors that a bot reported of its own code in a match, and keep the last one, for its owner."""

    __tablename__ = "reported_errors"
    __table_args__ = (Index(None, "bot_id", "match_id"),)

    match_id: Mapped[str] = mapped_column(ForeignKey("matches.id"), primary_key=True)
    seat: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"))
    errors: Mapped[int]
    n: Mapped[int]  # decision point of the last error
    text: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]  # when the last error was recorded


def friendly(match: Any = StoredMatch) -> ColumnElement[bool]:
    """Return the condition for friendlies: unrated matches outside tournaments and official ladders.

    ``match`` provides the columns.
    """
    return and_(match.tournament_id.is_(None), match.ladder_id.is_(None), match.rated.is_(False))


def is_unstarted() -> ColumnElement[bool]:
    """Return the condition for open matches that have never been claimed."""
    return and_(StoredMatch.status.in_(QUEUED), StoredMatch.started_at.is_(None))
