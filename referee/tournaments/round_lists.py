"""List the rounds of a tournament with their progress, and the tables of a round with their matches."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, select
from sqlalchemy.orm import Session

from referee.bots import bots
from referee.db.paging import Cursor, Page, load_page
from referee.errors import NotFound
from referee.matches.states import ENDED
from referee.matches.tables import StoredMatch
from referee.tournaments.states import RoundState
from referee.tournaments.tables import TournamentRound


@dataclass(frozen=True, slots=True)
class RoundSummary:
    """Summarise a round.

    Matches were created for ``arranged`` of its ``tables``; ``done`` of its ``matches`` have ended.
    """

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
    def state(self) -> RoundState:
        if self.ended_at is not None:
            return RoundState.OVER
        return RoundState.PLAYING if self.matches else RoundState.DECIDED


@dataclass(frozen=True, slots=True)
class RoundPage:
    """Hold some tables of a round.

    ``tables`` are their numbers; ``matches`` is keyed by table number, ``names`` and ``owners`` by bot id.
    """

    summary: RoundSummary
    tournament_round: TournamentRound
    tables: range
    matches: Mapping[int, list[StoredMatch]]
    names: Mapping[str, str]
    owners: Mapping[str, str]


def list_rounds(
    session: Session, tournament_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[RoundSummary]:
    """Return a page of round summaries, in order of round numbers."""
    query = _select_summaries(tournament_id)
    page = load_page(session, query, TournamentRound.number, limit=limit, cursor=cursor)
    return Page(_count_tables(session, tournament_id, page.items), page.next)


def get_round_summary(session: Session, tournament_id: str, number: int) -> RoundSummary:
    """Return the summary of a round. Raise ``NotFound`` if the round is not paired yet."""
    rows = session.execute(_select_summaries(tournament_id).where(TournamentRound.number == number)).all()
    if not rows:
        raise NotFound("round", str(number))
    return _count_tables(session, tournament_id, rows)[0]


def get_round_page(
    session: Session, tournament_id: str, summary: RoundSummary, *, first: int, limit: int, most_byes: int | None = None
) -> RoundPage:
    """Return up to ``limit`` tables of a round from index ``first`` (from 0), and names for up to ``most_byes`` byes.

    If ``most_byes`` is None, return the names for all byes.
    """
    number = summary.number
    tournament_round = session.get_one(TournamentRound, (tournament_id, number))
    tables = range(first + 1, min(first + limit, summary.tables) + 1)
    entrants = [bot_id for table in tables for bot_id in tournament_round.tables[table - 1]["entrants"]]
    return RoundPage(
        summary=summary,
        tournament_round=tournament_round,
        tables=tables,
        matches=matches_by_table(session, tournament_id, number, tables),
        names=bots.names_of(session, [*entrants, *(bye["entrant"] for bye in tournament_round.byes[:most_byes])]),
        owners=bots.owners_of(session, entrants),
    )


def matches_by_table(
    session: Session, tournament_id: str, number: int, tables: Sequence[int]
) -> dict[int, list[StoredMatch]]:
    """Return the matches of these tables of a round in order of their legs, keyed by table number."""
    query = select(StoredMatch).where(*_is_of_round(tournament_id, number), StoredMatch.table_no.in_(tables))
    ordered = query.order_by(StoredMatch.table_no, StoredMatch.leg, StoredMatch.id)
    found: dict[int, list[StoredMatch]] = defaultdict(list)
    for match in session.scalars(ordered):
        found[match.table_no or 0].append(match)
    return found


def ended_tables(session: Session, tournament_id: str, number: int) -> set[int]:
    """Return the numbers of those tables of a round whose matches have all ended. Omit tables without matches."""
    query = select(StoredMatch.table_no).where(*_is_of_round(tournament_id, number)).group_by(StoredMatch.table_no)
    counted = query.having(func.count() == func.sum(_count_if(StoredMatch.status.in_(ENDED))))
    return {number for number in session.scalars(counted) if number is not None}


def _is_of_round(tournament_id: str, number: int) -> tuple[ColumnElement[bool], ...]:
    return StoredMatch.tournament_id == tournament_id, StoredMatch.tournament_round == number


def _select_summaries(tournament_id: str) -> Select[int, str, int, int, int, datetime, datetime | None]:
    tables, byes = func.json_array_length(TournamentRound.tables), func.json_array_length(TournamentRound.byes)
    row = TournamentRound
    query = select(row.number, row.label, tables, byes, row.arranged, row.created_at, row.ended_at)
    return query.where(TournamentRound.tournament_id == tournament_id)


def _count_tables(session: Session, tournament_id: str, rows: Sequence[Any]) -> list[RoundSummary]:
    numbers = [row[0] for row in rows]
    query = select(StoredMatch.tournament_round, func.count(), func.sum(_count_if(StoredMatch.status.in_(ENDED))))
    query = query.where(StoredMatch.tournament_id == tournament_id, StoredMatch.tournament_round.in_(numbers))
    rows_of_rounds = session.execute(query.group_by(StoredMatch.tournament_round))
    counts = {number: (matches, int(done)) for number, matches, done in rows_of_rounds}
    summaries = []
    for number, label, tables, byes, arranged, created_at, ended_at in rows:
        matches, done = counts.get(number, (0, 0))
        summaries.append(RoundSummary(number, label, tables, byes, arranged, matches, done, created_at, ended_at))
    return summaries


def _count_if(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)
