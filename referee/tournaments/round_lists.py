"""List the rounds of a tournament with their progress, and the tables of a round with their matches."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, select
from sqlalchemy.orm import Session

from referee.bots import bots
from referee.db.paging import Cursor, Page, check_limit, read_number_cursor
from referee.errors import NotFound
from referee.matches.deal_groups import ENDED
from referee.matches.tables import Match
from referee.tournaments.tables import TournamentRound


@dataclass(frozen=True, slots=True)
class StageLine:
    """A round in numbers: ``arranged`` of its tables have matches; ``done`` of its ``matches`` have ended."""

    number: int
    label: str
    tables: int
    byes: int
    arranged: int
    matches: int
    done: int
    created_at: datetime
    ended_at: datetime | None

    @property
    def state(self) -> str:
        """Return ``decided``, ``playing`` or ``over``."""
        if self.ended_at is not None:
            return "over"
        return "playing" if self.matches else "decided"


@dataclass(frozen=True, slots=True)
class StagePage:
    """Some tables of a round, by number, with their matches and the names and owners of the bots."""

    line: StageLine
    stage: TournamentRound
    tables: range
    matches: Mapping[int, list[Match]]
    names: Mapping[str, str]
    owners: Mapping[str, str]


def list_stages(
    session: Session, tournament_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[StageLine]:
    """Return a page of rounds by number."""
    check_limit(limit)
    query = _lines(tournament_id).order_by(TournamentRound.number).limit(limit + 1)
    if cursor is not None:
        query = query.where(TournamentRound.number > read_number_cursor(cursor))
    rows = session.execute(query).all()
    lines = _count_tables(session, tournament_id, rows[:limit])
    return Page(lines, [lines[-1].number] if len(rows) > limit else None)


def stage_line(session: Session, tournament_id: str, number: int) -> StageLine:
    """Return a round in numbers. Raise ``NotFound`` for a round that is not paired."""
    rows = session.execute(_lines(tournament_id).where(TournamentRound.number == number)).all()
    if not rows:
        raise NotFound("stage", str(number))
    return _count_tables(session, tournament_id, rows)[0]


def stage_page(
    session: Session, tournament_id: str, line: StageLine, *, first: int, limit: int, most_byes: int | None = None
) -> StagePage:
    """Return up to ``limit`` tables of a round, from index ``first`` on, with names for up to ``most_byes`` byes."""
    number = line.number
    stage = session.get_one(TournamentRound, (tournament_id, number))
    tables = range(first + 1, min(first + limit, line.tables) + 1)
    entrants = [bot_id for table in tables for bot_id in stage.tables[table - 1]["entrants"]]
    return StagePage(
        line=line,
        stage=stage,
        tables=tables,
        matches=matches_by_table(session, tournament_id, number, tables),
        names=bots.names_of(session, [*entrants, *(bye["entrant"] for bye in stage.byes[:most_byes])]),
        owners=bots.owners_of(session, entrants),
    )


def matches_by_table(session: Session, tournament_id: str, stage: int, tables: Sequence[int]) -> dict[int, list[Match]]:
    """Return the matches of these tables, by table, in order of their legs."""
    query = select(Match).where(Match.tournament_id == tournament_id, Match.tournament_round == stage)
    found: dict[int, list[Match]] = defaultdict(list)
    ordered = query.where(Match.table_no.in_(tables)).order_by(Match.table_no, Match.leg, Match.id)
    for match in session.scalars(ordered):
        found[match.table_no or 0].append(match)
    return found


def ended_tables(session: Session, tournament_id: str, stage: int) -> set[int]:
    """Return the numbers of the tables that have matches, all of which have ended."""
    query = select(Match.table_no).where(Match.tournament_id == tournament_id, Match.tournament_round == stage)
    counted = query.group_by(Match.table_no).having(func.count() == func.sum(_count_if(Match.status.in_(ENDED))))
    return {number for number in session.scalars(counted) if number is not None}


def _lines(tournament_id: str) -> Select[int, str, int, int, int, datetime, datetime | None]:
    tables, byes = func.json_array_length(TournamentRound.tables), func.json_array_length(TournamentRound.byes)
    query = select(
        TournamentRound.number,
        TournamentRound.label,
        tables,
        byes,
        TournamentRound.arranged,
        TournamentRound.created_at,
        TournamentRound.ended_at,
    )
    return query.where(TournamentRound.tournament_id == tournament_id)


def _count_tables(session: Session, tournament_id: str, rows: Sequence[Any]) -> list[StageLine]:
    numbers = [row[0] for row in rows]
    query = select(Match.tournament_round, func.count(), func.sum(_count_if(Match.status.in_(ENDED))))
    query = query.where(Match.tournament_id == tournament_id, Match.tournament_round.in_(numbers)).group_by(
        Match.tournament_round
    )
    counts = {stage: (matches, int(done)) for stage, matches, done in session.execute(query)}
    lines = []
    for number, label, tables, byes, arranged, created_at, ended_at in rows:
        matches, done = counts.get(number, (0, 0))
        lines.append(StageLine(number, label, tables, byes, arranged, matches, done, created_at, ended_at))
    return lines


def _count_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)
