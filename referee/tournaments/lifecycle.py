"""What an organiser does with a tournament besides starting it: draft, edit, open, pause, resume, cancel."""

from typing import Any, Final

from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.orm import Session

from referee.db.engine import count_changed_rows, current_time
from referee.db.leases import revoked
from referee.errors import Conflict
from referee.ladders import voiding
from referee.matches import deal_groups, logs
from referee.matches.tables import DealGroup, Match, is_unstarted
from referee.tournaments import tournaments
from referee.tournaments.tables import Tournament
from referee.tournaments.terms import Terms

STOPPED: Final = ("waiting", "due", "running", "stuck")


def draft(session: Session, name: str, *, created_by: str, **terms: Any) -> Tournament:
    """A new tournament that takes no entries yet. Takes and raises what ``create_tournament`` does."""
    return tournaments.create_tournament(session, name, created_by=created_by, status="draft", **terms)


def edit(session: Session, tournament_id: str, *, revision: int, **changes: Any) -> Tournament:
    """Change a draft; ``changes`` are fields of ``Terms``. Of an open tournament, only ``starts_at`` can be changed,
    even after it missed its start. Raise ``BadOption`` for terms that do not fit together, and ``Conflict`` for an
    outdated revision or a term that can no longer be changed."""
    tournament = tournaments.locked_in_state(session, tournament_id, "draft", "open")
    if tournament.status == "open" and set(changes) != {"starts_at"}:
        raise Conflict("the tournament is open: only starts_at can be changed")
    if tournament.revision != revision:
        raise Conflict(f"the tournament has revision {tournament.revision}, the change was made to {revision}")
    columns = Terms.from_tournament(tournament).with_changes(changes).columns()
    if "starts_at" in changes:
        tournaments.check_starts_ahead(columns["starts_at"], current_time(session))
    for name, value in columns.items():
        setattr(tournament, name, value)
    tournament.status_reason = None  # it described the previous start time
    return _mark_changed(session, tournament)


def open_entries(session: Session, tournament_id: str) -> Tournament:
    """From now on bots may enter."""
    tournament = tournaments.locked_in_state(session, tournament_id, "draft")
    tournament.status = "open"
    return _mark_changed(session, tournament)


def pause(session: Session, tournament_id: str) -> Tournament:
    """Matches that are being played are played out; the others wait."""
    return _change_state(session, tournament_id, ("running", "paused"), ("due", "waiting"))


def resume(session: Session, tournament_id: str) -> Tournament:
    """The matches that wait are due again."""
    return _change_state(session, tournament_id, ("paused", "running"), ("waiting", "due"))


def cancel(session: Session, tournament_id: str, *, master_key: bytes, reason: str | None = None) -> Tournament:
    """Ends a tournament before its time; matches that are over keep their results.

    Deal groups in which nothing was played are closed by the scheduler.
    """
    tournament = tournaments.locked_in_state(session, tournament_id, "draft", "open", "running", "paused")
    moment = current_time(session)
    tournament.status, tournament.status_reason, tournament.finished_at = "cancelled", reason, moment
    tournament.preflight_until = None
    _break_off(session, tournament, master_key)
    _cancel_unbegun(session, tournament, "tournament_cancelled")
    return _mark_changed(session, tournament)


def finish(session: Session, tournament_id: str) -> Tournament:
    """Ends a ladder: nothing more is arranged, what is not begun is cancelled, what is being played is played out,
    and then the event is over. Raises ``Conflict`` for other formats, which end by themselves."""
    tournament = tournaments.locked_in_state(session, tournament_id, "running", "paused")
    if tournament.format != "ladder":
        raise Conflict(f"a {tournament.format} ends by itself; only a ladder is ended by its organiser")
    _cancel_unbegun(session, tournament, "ladder_ended")
    if tournament.status == "paused":  # what a runner gave back before the pause is played out
        _set_going(session, tournament, "waiting", "due")
    made = session.scalars(select(func.count()).where(Match.tournament_id == tournament_id)).one()
    tournament.planned, tournament.status = max(made, 1), "running"
    tournament.preflight_until = None  # else its end would plan anew
    return _mark_changed(session, tournament)


def _cancel_unbegun(session: Session, tournament: Tournament, reason: str) -> None:
    session.execute(
        update(Match)
        .where(Match.tournament_id == tournament.id, is_unstarted())
        .values(status="cancelled", reason=reason, finished_at=current_time(session), epoch=Match.epoch + 1)
    )


def _break_off(session: Session, tournament: Tournament, master_key: bytes) -> None:
    """What has begun ends without a result. Its deal group keeps the results it has, unless the same bots were to
    meet the same cards again: of those all count or none."""
    of_event = Match.tournament_id == tournament.id
    half_played = select(Match.group_id).where(of_event, Match.started_at.is_not(None))
    begun = or_(Match.started_at.is_not(None), and_(DealGroup.kind == "duplicate", DealGroup.id.in_(half_played)))
    query = select(Match.id, Match.group_id, DealGroup.kind).join(DealGroup, DealGroup.id == Match.group_id)
    query = query.where(of_event, begun, Match.status.in_(STOPPED))
    groups_left: dict[str, str] = {}
    for match_id, group_id, kind in session.execute(query.order_by(Match.id)).all():
        groups_left[group_id] = kind
        if kind != "duplicate":
            _stop(session, match_id)
    for group_id, kind in sorted(groups_left.items()):
        if kind == "duplicate":
            voiding.cancel_group(session, group_id, "tournament_cancelled", by=None, master_key=master_key)
        else:
            deal_groups.close_if_over(session, group_id, master_key=master_key)


def _stop(session: Session, match_id: str) -> None:
    gone = {"status": "cancelled", "reason": "tournament_cancelled", "finished_at": current_time(session)}
    stopped = update(Match).where(Match.id == match_id, Match.status.in_(STOPPED)).values(**gone, **revoked(Match))
    if count_changed_rows(session, stopped):  # else it ended meanwhile
        logs.pack_what_there_is(session, match_id)


def _change_state(
    session: Session, tournament_id: str, states: tuple[str, str], matches: tuple[str, str]
) -> Tournament:
    tournament = tournaments.locked_in_state(session, tournament_id, states[0])
    tournament.status = states[1]
    _set_going(session, tournament, *matches)
    return _mark_changed(session, tournament)


def _set_going(session: Session, tournament: Tournament, before: str, after: str) -> None:
    concerned = update(Match).where(Match.tournament_id == tournament.id, Match.status == before)
    session.execute(concerned.values(status=after))


def _mark_changed(session: Session, tournament: Tournament) -> Tournament:
    tournament.revision += 1
    session.flush()
    return tournament
