"""Tournaments played without cards: a script decides who wins each table, so that a run can be repeated."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.db.engine import Database, current_time
from referee.match.canonical import dumps
from referee.matches.logs.recording import MatchUpdate
from referee.matches.tables import DealGroup, MatchSeat, StoredMatch
from referee.tournaments import progression
from referee.tournaments.tables import Tournament, TournamentEntry, TournamentRound
from referee.workflows.ending import match_end
from tests.surroundings import MASTER_KEY

LINE = dumps({"engine_version": "1"})


class Killed(Exception):
    """Raised where the process is killed."""


class Dying(Database):
    """A database whose process is killed at the end of every transaction, before the commit."""

    @contextmanager
    def write(self, *, durable: bool = True, idle_s: float | None = None) -> Iterator[Session]:
        with super().write(durable=durable, idle_s=idle_s) as session:
            yield session
            raise Killed


def steps(dying: Dying, database: Database, tournament_id: str) -> None:
    """Advance a tournament as far as possible; a process is killed at each step, which another then
    takes. They communicate only through the database."""
    while True:
        with suppress(Killed):
            progression.take_next_step(dying, tournament_id, master_key=MASTER_KEY)
        if progression.take_next_step(database, tournament_id, master_key=MASTER_KEY) is None:
            return


def play_due(database: Database, tournament_id: str, limit: int | None = None) -> int:
    """End due matches of the tournament by the script, first tables first; return how many."""
    query = select(StoredMatch.id).where(StoredMatch.tournament_id == tournament_id, StoredMatch.status == "due")
    query = query.order_by(StoredMatch.tournament_round, StoredMatch.table_no, StoredMatch.leg, StoredMatch.id)
    with database.read() as session:
        ids = session.scalars(query.limit(limit)).all()
    for match_id in ids:
        play(database, match_id)
    return len(ids)


def play(database: Database, match_id: str, script: Callable[[Sequence[str], str], list[int]] | None = None) -> None:
    """End one match: the script returns the returns by seat for the entrants and the name of the table."""
    with database.write() as session:
        begun = (
            update(StoredMatch).where(StoredMatch.id == match_id).values(status="running", epoch=StoredMatch.epoch + 1)
        )
        session.execute(begun.values(started_at=current_time(session)))
        match = session.get_one(StoredMatch, match_id)
        seats = select(MatchSeat).where(MatchSeat.match_id == match_id).order_by(MatchSeat.seat)
        entrants = [seat.entrant_id or seat.bot_id for seat in session.scalars(seats)]
        returns = (script or luck)(entrants, f"{match.tournament_round} {match.table_no} {match.leg}")
        placements = [1 + sum(other > own for other in returns) for own in returns]
        outcome = match_end.MatchResult(placements, returns, returns, [0] * len(returns))
        match_end.finish_match(session, MatchUpdate(match_id, match.epoch, 0, [LINE]), outcome, master_key=MASTER_KEY)


def luck(entrants: Sequence[str], table: str) -> list[int]:
    """Return arbitrary returns, including ties, always the same for the same table."""
    return [hashlib.sha256(f"{one} {table}".encode()).digest()[0] % 8 for one in entrants]


def shape(database: Database, tournament_id: str) -> Mapping[str, Any]:
    """Return all decisions of a tournament, without ids and times: rounds, matches with their groups, entries, end."""
    with database.read() as session:
        tournament = session.get_one(Tournament, tournament_id)
        return {
            "event": (tournament.status, tournament.expected_matches),
            "rounds": _rounds(session, tournament_id),
            "matches": _matches(session, tournament_id),
            "entries": _entries(session, tournament_id),
        }


def _rounds(session: Session, tournament_id: str) -> list[Any]:
    query = select(TournamentRound).where(TournamentRound.tournament_id == tournament_id)
    rounds = session.scalars(query.order_by(TournamentRound.number))
    return [(one.number, one.label, one.tables, one.byes, one.arranged) for one in rounds]


def _entries(session: Session, tournament_id: str) -> list[Any]:
    query = select(TournamentEntry).where(TournamentEntry.tournament_id == tournament_id)
    entries = session.scalars(query.order_by(TournamentEntry.number))
    return [(one.bot_id, one.first_round, one.preflight, one.withdrawn_at is None) for one in entries]


def _matches(session: Session, tournament_id: str) -> list[Any]:
    """Return each match with the tables that share its cards."""
    query = select(StoredMatch, DealGroup.kind).join(DealGroup, DealGroup.id == StoredMatch.group_id)
    found = session.execute(query.where(StoredMatch.tournament_id == tournament_id)).all()
    seats = select(MatchSeat).where(MatchSeat.match_id.in_([match.id for match, _ in found])).order_by(MatchSeat.seat)
    seated: dict[str, list[tuple[str, str | None]]] = {}
    for seat in session.scalars(seats):
        seated.setdefault(seat.match_id, []).append((seat.bot_id, seat.entrant_id))
    together: dict[str, list[Any]] = {}
    for match, _ in found:
        together.setdefault(match.group_id, []).append(_place(match))
    return sorted(
        (_place(match), match.status, kind, seated[match.id], sorted(together[match.group_id])) for match, kind in found
    )


def _place(match: StoredMatch) -> tuple[int, int, int]:
    return (match.tournament_round or 0, match.table_no or 0, match.leg or 0)
