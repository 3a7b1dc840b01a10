"""The start of an event: asked for by its organiser or due by itself, and what holds it up."""

import secrets
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.errors import BadOption
from referee.store import outbox, preflight
from referee.store.db import now
from referee.store.entrants import seats_of
from referee.store.schema import Bot, Tournament, TournamentEntry
from referee.store.stages import event_of, format_of
from referee.store.tabling import orders
from referee.store.tournaments import locked_in_state


def start(session: Session, tournament_id: str, *, draw: bytes | None = None) -> Tournament:
    """Closes the entries, draws by what all lots of the event are decided, and has every bot called.

    The scheduler pairs the first stage when all have answered. Raises ``BadOption`` when the bots that could play
    are too few, or too many, for the format.
    """
    tournament = locked_in_state(session, tournament_id, "open")
    _check_entries(session, tournament)
    moment = now(session)
    tournament.status, tournament.status_reason = "running", None
    tournament.started_at, tournament.draw = moment, draw or secrets.token_bytes(32)
    preflight.ask(session, tournament, moment)
    session.flush()
    plan(session, tournament)
    tournament.revision += 1
    return tournament


def due_by_themselves(session: Session, moment: datetime) -> list[str]:
    """Open events whose time to start has come."""
    query = select(Tournament.id).where(Tournament.status == "open", Tournament.starts_at <= moment)
    return list(session.scalars(query.order_by(Tournament.id)))


def start_by_itself(session: Session, tournament_id: str) -> Tournament:
    """Starts an event whose time has come; one that cannot start stays open, says why, and starts once it can."""
    tournament = locked_in_state(session, tournament_id, "open")
    try:
        return start(session, tournament_id)
    except BadOption as error:
        if tournament.status_reason != error.reason:
            tournament.status_reason = error.reason
            tournament.revision += 1
    return tournament


def begin(session: Session, tournament: Tournament) -> bool:
    """Ends the pre-flight: the first stage may be paired. When too few bots are left the event is open again and
    says so; False then."""
    tournament.preflight_until = None
    tournament.revision += 1
    try:
        _check_entries(session, tournament)
    except BadOption as error:
        tournament.status, tournament.status_reason = "open", f"not started: {error.reason}"
        tournament.started_at = tournament.draw = tournament.planned = tournament.starts_at = None
        return False
    plan(session, tournament)
    tell(session, tournament, "tournament.started")
    return True


def plan(session: Session, tournament: Tournament) -> None:
    """Notes how many matches the event will have, as far as can be foreseen."""
    tournament.planned = format_of(tournament).planned(event_of(session, tournament)) * len(orders(tournament))


def tell(session: Session, tournament: Tournament, event: str) -> None:
    """Tells the organiser and all whose bots take part."""
    owners = select(Bot.owner_id).join(TournamentEntry, TournamentEntry.bot_id == Bot.id)
    owners = owners.where(TournamentEntry.tournament_id == tournament.id, TournamentEntry.withdrawn_at.is_(None))
    told = {
        "tournament": tournament.id,
        "name": tournament.name,
        "game": tournament.game,
        "format": tournament.format,
        "status": tournament.status,
    }
    outbox.emit(session, event, {tournament.created_by, *session.scalars(owners)}, told)


def _check_entries(session: Session, tournament: Tournament) -> None:
    """Raises ``BadOption`` unless those who can play, with stand-ins for the absent, make an event."""
    seats = [seat for seat in seats_of(session, tournament) if seat.withdrawn_at is None]
    before = tournament.started_at is None
    playing = sum(
        seat.bot_status == "verified" and seat.plays_game if before else seat.played_by(tournament) is not None
        for seat in seats
    )
    format_of(tournament).check(playing, tournament.seats, tournament.format_options, tournament.cycles)
