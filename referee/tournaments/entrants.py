"""Load the entrants of a tournament: whether they can play, which bot plays for them, and their ratings."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Text, cast, func, select
from sqlalchemy.orm import Session

from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.lookup import divide_ids
from referee.ladders.ratings import find_ladder
from referee.ladders.tables import LedgerEntry, Rating, RatingChange
from referee.pairing import Entrant
from referee.ratings.elo import START
from referee.tournaments import eligibility
from referee.tournaments.states import Preflight
from referee.tournaments.tables import Tournament, TournamentEntry


@dataclass(frozen=True, slots=True)
class EntrantSeat:
    """Hold an entry with the current state of its bot. ``substitute`` is the bot that plays in its place, if any."""

    bot_id: str
    owner_id: str
    seed: int | None
    first_round: int
    withdrawn_at: datetime | None
    preflight: Preflight
    version: str | None
    substitute: str | None
    bot_status: BotState
    bot_version: str | None
    certified: bool  # also true if the bot needs no certificate to continue in this tournament
    plays_game: bool

    def is_fit_to_play(self, tournament: Tournament) -> bool:
        """Return whether the bot can play its matches itself, without a substitute."""
        is_able = self.bot_status == BotState.VERIFIED and self.plays_game and self.certified
        return is_able and self.preflight != Preflight.ABSENT and not self.has_changed_version(tournament)

    def has_changed_version(self, tournament: Tournament) -> bool:
        """Return whether the bot changed its version since the start of a tournament that forbids it."""
        return tournament.frozen_version and self.version is not None and self.bot_version != self.version

    def current_player(self, tournament: Tournament) -> str | None:
        """Return the id of the bot that now plays the seats of this entry: its own bot or the substitute.

        Return None if neither can play.
        """
        if self.withdrawn_at is not None:
            return None
        return self.bot_id if self.is_fit_to_play(tournament) else self.substitute


def load_entrant_seats(
    session: Session, tournament: Tournament, bot_ids: Collection[str] | None = None
) -> list[EntrantSeat]:
    """Return the entries of these bots, or all entries, in order of entry. Omit entries withdrawn before the start."""
    query = _entries_query(tournament)
    if bot_ids is None:
        rows = list(session.execute(query))
    else:
        rows = [
            row for ids in divide_ids(bot_ids) for row in session.execute(query.where(TournamentEntry.bot_id.in_(ids)))
        ]
    began = tournament.started_at
    seats = [_entrant_seat(tournament, *row) for row in rows]
    return [seat for seat in seats if seat.withdrawn_at is None or (began is not None and seat.withdrawn_at > began)]


def load_entrants(session: Session, tournament: Tournament) -> tuple[Entrant, ...]:
    """Return all entrants that took part from the start or joined later, as input for the pairing."""
    rated = _ratings_at_start(session, tournament)
    return tuple(
        Entrant(
            id=seat.bot_id,
            owner=seat.owner_id,
            rating=rated.get(seat.bot_id, START),
            seed=seat.seed,
            first_round=seat.first_round,
            active=seat.current_player(tournament) is not None,
            absent=seat.preflight == Preflight.ABSENT,
        )
        for seat in load_entrant_seats(session, tournament)
    )


def _ratings_at_start(session: Session, tournament: Tournament) -> dict[str, int]:
    """Return the ratings in micro-points on the tournament's ladder, keyed by bot id.

    They are those at the start or, before it, the current ones: later they do not depend on the time of the call.
    """
    ladder = find_ladder(session, tournament.game, tournament.options, tournament.seats)
    if ladder is None:
        return {}
    ladder_id = ladder.id
    entered = select(TournamentEntry.bot_id).where(TournamentEntry.tournament_id == tournament.id)
    of_ladder = Rating.ladder_id == ladder_id, Rating.bot_id.in_(entered)
    values = dict(session.execute(select(Rating.bot_id, Rating.value).where(*of_ladder)).all())
    if tournament.started_at is None:
        return values
    newest = select(func.max(LedgerEntry.seq))
    newest = newest.where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.created_at <= tournament.started_at)
    return values | _ratings_before_later_changes(session, tournament, ladder_id, session.scalar(newest) or 0)


def _ratings_before_later_changes(
    session: Session, tournament: Tournament, ladder_id: str, last: int
) -> dict[str, int]:
    """Return each bot's rating before its first change after ledger entry ``last``. Omit bots without such a change."""
    entered = select(TournamentEntry.bot_id).where(TournamentEntry.tournament_id == tournament.id)
    later = RatingChange.ladder_id == ladder_id, RatingChange.seq > last, RatingChange.bot_id.in_(entered)
    earliest = select(RatingChange.bot_id, func.min(RatingChange.seq).label("seq")).where(*later)
    first = earliest.group_by(RatingChange.bot_id).subquery()
    joined = (RatingChange.bot_id == first.c.bot_id) & (RatingChange.seq == first.c.seq)
    changes = select(RatingChange.bot_id, RatingChange.before).join(first, joined)
    return dict(session.execute(changes).all())


def _entrant_seat(tournament: Tournament, *columns: Any) -> EntrantSeat:
    # Search the stored JSON text: parsing the games of thousands of bots would take most of the time of this call.
    return EntrantSeat(*(*columns[:-1], f'"{tournament.game}"' in columns[-1]))


def _entries_query(tournament: Tournament) -> Any:
    entry = TournamentEntry
    columns = (
        *(entry.bot_id, Bot.owner_id, entry.seed, entry.first_round, entry.withdrawn_at, entry.preflight),
        *(entry.version, entry.substitute_id, Bot.status, Bot.version),
        *(eligibility.may_continue(tournament), cast(Bot.games, Text)),
    )
    query = select(*columns).join(Bot, Bot.id == entry.bot_id)
    return query.where(entry.tournament_id == tournament.id).order_by(entry.number)
