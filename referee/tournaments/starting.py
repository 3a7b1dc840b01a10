"""Start a tournament at the request of its organiser or at its start time, and handle missed starts."""

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.reporting import notify
from referee.errors import BadOption
from referee.events import TournamentCancelled, TournamentEvent, TournamentHeldUp, TournamentStarted
from referee.games import catalogue
from referee.tournaments import preflight
from referee.tournaments.match_creation import expect_matches
from referee.tournaments.rounds import get_format, load_state
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament, TournamentEntry
from referee.tournaments.tournaments import CO_ORGANISERS, lock_in_state


def start(session: Session, tournament_id: str, *, draw_key: bytes | None = None) -> Tournament:
    """Close entries, draw the key of all random choices, and start the preflight.

    The scheduler pairs the first round after the preflight. Raise ``BadOption`` if the number of bots that can play
    does not suit the format.
    """
    tournament = lock_in_state(session, tournament_id, TournamentState.OPEN)
    if (missing := _missing_entries(session, tournament)) is not None:
        raise BadOption("entries", missing)
    moment = current_time(session)
    tournament.status, tournament.status_reason = TournamentState.RUNNING, None
    tournament.started_at, tournament.draw_key = moment, draw_key or secrets.token_bytes(32)
    preflight.request_handshakes(session, tournament, moment)
    _set_expected_matches(session, tournament)
    tournament.revision += 1
    return tournament


def list_due_to_start(session: Session, moment: datetime) -> list[str]:
    """Return the ids of open tournaments of known games whose start time has passed."""
    query = select(Tournament.id).where(Tournament.status == TournamentState.OPEN, Tournament.starts_at <= moment)
    query = query.where(Tournament.game.in_(catalogue()))
    return list(session.scalars(query.order_by(Tournament.id)))


def start_if_due(session: Session, tournament_id: str) -> Tournament:
    """Start an open tournament if its start time has passed, even long ago, because the service may have been down.

    A tournament with fewer entries than ``min_entries`` is cancelled. One that cannot start now for another reason has
    missed its start. It stays open, its organiser is notified, and it waits for a manual start or a new time, because
    it must not start while more bots are being entered.
    """
    tournament = lock_in_state(session, tournament_id, TournamentState.OPEN)
    if tournament.starts_at is None or tournament.starts_at > current_time(session):
        return tournament
    if (missing := _missing_entries(session, tournament)) is not None:
        return _cancel_for_lack_of_entries(session, tournament, missing)
    try:
        with session.begin_nested():
            return start(session, tournament_id)
    except BadOption as error:
        start_time = tournament.starts_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
        _record_missed_start(session, tournament, f"The start at {start_time} was missed because {error.reason}")
    return tournament


def _missing_entries(session: Session, tournament: Tournament) -> str | None:
    """Return a sentence about the entries that are missing, or None if there are enough."""
    if tournament.min_entries is None:
        return None
    entered = select(func.count()).where(
        TournamentEntry.tournament_id == tournament.id, TournamentEntry.withdrawn_at.is_(None)
    )
    count = session.scalars(entered).one()
    if count >= tournament.min_entries:
        return None
    return (
        f"at least {tournament.min_entries} bots are needed, but only {count} {'is' if count == 1 else 'are'} entered"
    )


def _cancel_for_lack_of_entries(session: Session, tournament: Tournament, missing: str) -> Tournament:
    """Cancel a tournament that has not started, and notify its organiser and the owners of its bots."""
    tournament.status, tournament.finished_at = TournamentState.CANCELLED, current_time(session)
    tournament.status_reason = f"Cancelled at its start: {missing}."
    tournament.revision += 1
    notify_participants(session, tournament, TournamentCancelled, reason=tournament.status_reason)
    return tournament


def _record_missed_start(session: Session, tournament: Tournament, reason: str) -> None:
    message = f"{reason}. Start the tournament manually or set a new time."
    tournament.starts_at, tournament.status_reason = None, message
    tournament.revision += 1
    concerned, about = CO_ORGANISERS.ids(session, tournament), {"tournament": tournament.id, "name": tournament.name}
    notify(session, TournamentHeldUp(accounts=concerned, **about, reason=message))


def begin(session: Session, tournament: Tournament) -> None:
    """End the preflight so that the first round can be paired.

    If too few bots are left, the tournament has missed its start: open it for entries again, and notify its organiser.
    """
    tournament.preflight_until = None
    tournament.revision += 1
    try:
        _set_expected_matches(session, tournament)
    except BadOption as error:
        tournament.status = TournamentState.OPEN
        tournament.started_at = tournament.draw_key = tournament.expected_matches = None
        _record_missed_start(session, tournament, f"Too few bots answered: {error.reason}")
    else:
        notify_participants(session, tournament, TournamentStarted)


def _set_expected_matches(session: Session, tournament: Tournament) -> None:
    """Set the expected number of matches.

    Raise ``BadOption`` if the number of players, including substitutes, does not suit the format.
    """
    session.flush()
    state, format = load_state(session, tournament), get_format(tournament)
    playing = sum(entrant.active for entrant in state.entrants)
    format.check(
        playing, tournament.seats, tournament.format_options, tournament.cycles, min_seats=tournament.min_seats
    )
    tournament.expected_matches = expect_matches(tournament, state)


def notify_participants(session: Session, tournament: Tournament, event: type[TournamentEvent], **more: Any) -> None:
    """Report an event to the organisers and the owners of entered bots. ``more`` are its other members."""
    owners = select(Bot.owner_id).join(TournamentEntry, TournamentEntry.bot_id == Bot.id).distinct()
    owners = owners.where(TournamentEntry.tournament_id == tournament.id, TournamentEntry.withdrawn_at.is_(None))
    about = {name: getattr(tournament, name) for name in ("name", "game", "format", "status")}
    concerned = CO_ORGANISERS.ids(session, tournament) | {*session.scalars(owners)}
    notify(session, event(accounts=concerned, tournament=tournament.id, **about, **more))
