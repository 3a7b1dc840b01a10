"""Change the terms of a tournament: all of a draft, later only those on which nobody relies, with a notification."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.accounts.roles import Role
from referee.db.engine import current_time
from referee.db.texts import validate_texts
from referee.errors import BadOption, Conflict
from referee.events import TournamentChanged
from referee.tournaments import entries, round_times, round_timing, starting, tournaments
from referee.tournaments.lifecycle import mark_changed
from referee.tournaments.private import check_private_terms
from referee.tournaments.requested_terms import Terms
from referee.tournaments.states import UNFINISHED, TournamentState
from referee.tournaments.tables import EntryRequest, Tournament, TournamentEntry
from referee.tournaments.terms import ANNOUNCEMENT, Fixed, list_changeable


def edit(session: Session, tournament_id: str, *, revision: int, **changes: Any) -> Tournament:
    """Change terms of a tournament that is not over; ``changes`` are fields of ``Terms``.

    Owners of entered bots are notified. Raise ``BadOption`` for terms that are invalid or do not fit together, and
    ``Conflict`` for an outdated revision or a term that can no longer be changed.
    """
    tournament = tournaments.lock_in_state(session, tournament_id, *UNFINISHED)
    _check_changeable(tournament, changes, has_entries(session, tournament_id))
    if tournament.revision != revision:
        raise Conflict(f"The tournament has revision {tournament.revision}, but the change was based on {revision}.")
    if changes.keys() <= ANNOUNCEMENT.keys():
        columns: dict[str, Any] = {**validate_texts(changes, ANNOUNCEMENT)}
    else:
        columns = Terms.from_tournament(tournament).with_changes(changes).columns()
        _check_private(session, tournament, columns)
        _check_cap(session, tournament, columns["max_entries"])
    if "round_times" in changes:
        _check_round_times(session, tournament, columns["round_times"])
    times = {field: columns[field] for field in changes if field in ("starts_at", "entries_close_at")}
    tournaments.check_times_ahead(times, current_time(session))
    if "starts_at" in changes:
        tournament.status_reason = None  # the reason referred to the previous start time
    changed = [name for name, value in columns.items() if getattr(tournament, name) != value]
    for name, value in columns.items():
        setattr(tournament, name, value)
    if "round_times" in changed:
        round_timing.move_waiting_rounds(session, tournament)
    _announce(session, tournament, changed)
    return mark_changed(session, tournament)


def has_entries(session: Session, tournament_id: str) -> bool:
    """Return whether a bot was ever entered, or waits for the organiser's approval."""
    entered = exists().where(TournamentEntry.tournament_id == tournament_id)
    asked = exists().where(EntryRequest.tournament_id == tournament_id)
    return bool(session.scalar(select(entered | asked)))


def changeable_terms(tournament: Tournament, *, has_entries: bool) -> list[str]:
    """Return the terms that can be changed now."""
    match tournament.status:
        case TournamentState.DRAFT:
            return [*list_changeable(Fixed.OPENING), "limits"]
        case TournamentState.OPEN:
            return list_changeable(Fixed.START) if has_entries else [*list_changeable(Fixed.ENTRIES), "limits"]
        case TournamentState.RUNNING | TournamentState.PAUSED:
            return list_changeable(Fixed.END)
    return []


def _check_changeable(tournament: Tournament, changes: Mapping[str, Any], entered: bool) -> None:
    """Raise ``Conflict`` if a change concerns a term that is fixed now."""
    changeable = changeable_terms(tournament, has_entries=entered)
    if fixed := sorted(set(changes) - set(changeable)):
        names = ["time" if name == "limits" else name for name in fixed]
        state = f"is {tournament.status}" + (" and has entries" if entered else "")
        raise Conflict(
            f"The tournament {state}: {', '.join(names)} can no longer be changed, only {', '.join(changeable)}."
        )


def _check_round_times(session: Session, tournament: Tournament, after: Sequence[str] | None) -> None:
    begun = round_timing.count_begun(session, tournament)
    round_times.check_changes(tournament.round_times, after, begun=begun, moment=current_time(session))


def _check_private(session: Session, tournament: Tournament, columns: Mapping[str, Any]) -> None:
    """Check that a private tournament of an account that is no organiser stays one."""
    assert tournament.created_by is not None, "a tournament that can be edited has an organiser"
    is_private = not tournament.listed and not tournament.rated
    if is_private and accounts.get_account(session, tournament.created_by).role == Role.OWNER:
        check_private_terms(columns)


def _check_cap(session: Session, tournament: Tournament, most: int | None) -> None:
    entered = entries.count_entered(session, [tournament.id]).get(tournament.id, 0)
    if most is not None and most < entered:
        raise BadOption("max_entries", f"must be at least {entered}, the number of bots entered")


def _announce(session: Session, tournament: Tournament, changed: Collection[str]) -> None:
    """Let the search find the new name, and notify participants, unless the tournament is a draft."""
    if tournament.status == TournamentState.DRAFT or not changed:
        return
    if "name" in changed:
        tournaments.make_searchable(session, tournament)
    starting.notify_participants(session, tournament, TournamentChanged, changed=sorted(changed))
