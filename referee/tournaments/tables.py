"""Define the tables of tournaments, their entries and their rounds."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from referee.db.base import Base, Id, ShortString, StoredEnum, StoredWord, one_of
from referee.tournaments.states import OVER, InvitationState, Preflight, TournamentState
from referee.tournaments.terms import TermColumns


class Tournament(TermColumns, Base):
    """Represent a tournament: its terms and its state."""

    __tablename__ = "tournaments"
    __table_args__ = (one_of("status", TournamentState), Index(None, "created_at", "id"))

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    join_code: Mapped[str | None] = mapped_column(String(64))  # as ``admission`` compares it
    draw_key: Mapped[bytes | None]  # key of all random choices, drawn at the start and public after the end
    expected_matches: Mapped[int | None]  # number of matches, as far as it can be predicted
    preflight_until: Mapped[datetime | None]
    status: Mapped[TournamentState] = mapped_column(StoredEnum(TournamentState), index=True)
    status_reason: Mapped[str | None] = mapped_column(Text)
    # None after the last organiser has left
    created_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    revision: Mapped[int]

    @property
    def public_draw_key(self) -> str | None:
        """Return the key of all random choices as hex, or None before the tournament is over."""
        return self.draw_key.hex() if self.status in OVER and self.draw_key else None


class TournamentEntry(Base):
    """Represent a bot in a tournament. ``number`` is its position in the order of entry, from 0."""

    __tablename__ = "tournament_entries"
    __table_args__ = (UniqueConstraint("tournament_id", "number"), one_of("preflight", Preflight))

    tournament_id: Mapped[str] = mapped_column(ForeignKey("tournaments.id"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True, index=True)
    number: Mapped[int]
    withdrawn_at: Mapped[datetime | None]
    seed: Mapped[int | None]  # set manually: 1 is the strongest
    first_round: Mapped[int] = mapped_column(default=1)  # the first round in which the bot may play
    version: Mapped[str | None] = mapped_column(String(128))  # version of the bot at the start of the tournament
    version_changed_at: Mapped[datetime | None]
    preflight: Mapped[Preflight] = mapped_column(StoredEnum(Preflight), default=Preflight.NONE)
    preflight_reason: Mapped[str | None] = mapped_column(Text)
    substitute_id: Mapped[str | None] = mapped_column(ForeignKey("bots.id"))  # the house bot that plays its seats now
    substituted_at: Mapped[datetime | None]  # since when, also of the last substitution if it is over
    substitution_code: Mapped[str | None] = mapped_column(ShortString)
    owner_withdrew_at: Mapped[datetime | None]  # then organisers need their consent to enter it again
    disqualified_at: Mapped[datetime | None]
    disqualification_reason: Mapped[str | None] = mapped_column(Text)


class TournamentGuest(Base):
    """Name an account that may enter a tournament for guests."""

    __tablename__ = "tournament_guests"

    tournament_id: Mapped[str] = mapped_column(ForeignKey("tournaments.id"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True, index=True)


class TournamentOrganiser(Base):
    """Name an account that runs a tournament together with the one that created it."""

    __tablename__ = "tournament_organisers"

    tournament_id: Mapped[str] = mapped_column(ForeignKey("tournaments.id"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True, index=True)
    added_at: Mapped[datetime]


class EntryRequest(Base):
    """Store that an owner asked the organiser to enter a bot. It is deleted when the bot is entered."""

    __tablename__ = "entry_requests"

    tournament_id: Mapped[str] = mapped_column(ForeignKey("tournaments.id"), primary_key=True)
    bot_id: Mapped[str] = mapped_column(ForeignKey("bots.id"), primary_key=True, index=True)
    created_at: Mapped[datetime]
    refused_at: Mapped[datetime | None]
    reason: Mapped[str | None] = mapped_column(Text)


class Invitation(Base):
    """Ask an account to run a tournament or the like together with others, or to let its bot play in a tournament."""

    __tablename__ = "invitations"
    __table_args__ = (
        one_of("state", InvitationState),
        Index(None, "account_id", "created_at", "id"),
        Index(None, "object_id", "created_at", "id"),
    )

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    kind: Mapped[str] = mapped_column(StoredWord)  # a member of ``InvitationKind``, or a kind of an extra
    object_id: Mapped[str] = mapped_column(Id)  # of a tournament, or of what an extra lets accounts run together
    bot_id: Mapped[str | None] = mapped_column(ForeignKey("bots.id"), index=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"))  # who decides
    invited_by: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    state: Mapped[InvitationState] = mapped_column(StoredEnum(InvitationState))  # never ``lapsed``, which is computed
    created_at: Mapped[datetime]
    decided_at: Mapped[datetime | None]


class TournamentRound(Base):
    """Represent the pairings of a round, from which its matches are created one portion after the other."""

    __tablename__ = "tournament_rounds"

    tournament_id: Mapped[str] = mapped_column(ForeignKey("tournaments.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    label: Mapped[str] = mapped_column(ShortString)
    tables: Mapped[list[Any]]  # {"entrants": [bot ids by seat], "label": "", "legs": 1}
    byes: Mapped[list[Any]]  # {"entrant": bot id, "reason": "odd"}
    arranged: Mapped[int]  # tables whose first matches exist
    created_at: Mapped[datetime]
    starts_at: Mapped[datetime | None]  # when its matches are arranged, in a tournament with a pace
    ended_at: Mapped[datetime | None]
