"""What an organiser does with a tournament besides starting and cancelling it: draft, edit, open, pause, resume."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import update
from sqlalchemy.orm import Session

from referee.clocks import Limits
from referee.errors import Conflict
from referee.games import game as rules_of
from referee.store import tournaments
from referee.store.names import checked_name
from referee.store.schema import Match, Tournament


def draft(
    session: Session,
    name: str,
    *,
    game: str,
    options: Mapping[str, Any],
    seats: int,
    created_by: str,
    limits: Limits,
    format: str,
    cycles: int,
    rated: bool,
) -> Tournament:
    """A new tournament that takes no entries yet. Raises what ``create_tournament`` does."""
    tournament = tournaments.create_tournament(
        session,
        name,
        game=game,
        options=options,
        seats=seats,
        created_by=created_by,
        limits=limits,
        format=format,
        cycles=cycles,
        rated=rated,
    )
    tournament.status = "draft"
    session.flush()
    return tournament


def edit(
    session: Session,
    tournament_id: str,
    *,
    revision: int,
    name: str | None = None,
    seats: int | None = None,
    options: Mapping[str, Any] | None = None,
    cycles: int | None = None,
    rated: bool | None = None,
    limits: Limits | None = None,
) -> Tournament:
    """Changes a draft. Raises ``BadOption`` for options or seats that the game does not know, and ``Conflict`` for
    an old revision."""
    tournament = tournaments.locked_in_state(session, tournament_id, "draft")
    if tournament.revision != revision:
        raise Conflict(f"the tournament has revision {tournament.revision}, the change was made to {revision}")
    seats = tournament.seats if seats is None else seats
    options = tournament.options if options is None else options
    tournament.options = rules_of(tournament.game).start(seats, options).options
    tournament.seats = seats
    if name is not None:
        tournament.name = checked_name(name)
    if cycles is not None:
        tournament.cycles = cycles
    if rated is not None:
        tournament.rated = rated
    if limits is not None:
        tournament.budget_ms, tournament.bank_ms = limits.budget_ms, limits.bank_ms
    return _changed(session, tournament)


def open_entries(session: Session, tournament_id: str) -> Tournament:
    """From now on bots may enter."""
    tournament = tournaments.locked_in_state(session, tournament_id, "draft")
    tournament.status = "open"
    return _changed(session, tournament)


def pause(session: Session, tournament_id: str) -> Tournament:
    """Matches that are being played are played out; the others wait."""
    return _moved(session, tournament_id, ("running", "paused"), ("due", "waiting"))


def resume(session: Session, tournament_id: str) -> Tournament:
    """The matches that wait are due again."""
    return _moved(session, tournament_id, ("paused", "running"), ("waiting", "due"))


def _moved(session: Session, tournament_id: str, states: tuple[str, str], matches: tuple[str, str]) -> Tournament:
    tournament = tournaments.locked_in_state(session, tournament_id, states[0])
    tournament.status = states[1]
    concerned = update(Match).where(Match.tournament_id == tournament_id, Match.status == matches[0])
    session.execute(concerned.values(status=matches[1]))
    return _changed(session, tournament)


def _changed(session: Session, tournament: Tournament) -> Tournament:
    tournament.revision += 1
    session.flush()
    return tournament
