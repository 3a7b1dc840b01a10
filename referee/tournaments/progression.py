"""Advance a tournament in small steps: find each step in a read-only snapshot and take it in a separate transaction.

The next step follows from the database alone, so any process may take it. A step that another process has taken in the
meantime is not taken again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial, reduce
from typing import Final

from sqlalchemy import and_, case, exists, func, select, update
from sqlalchemy.orm import Session

from referee import pairing
from referee.db.engine import Database, current_time
from referee.events import TournamentFinished
from referee.games import catalogue
from referee.matches.states import OPEN, MatchState
from referee.matches.tables import StoredMatch
from referee.pairing.kinds import TournamentFormat
from referee.tournaments import blockers, match_creation, preflight, round_timing, starting
from referee.tournaments.match_creation import MatchesToCreate, count_sets
from referee.tournaments.rounds import (
    RoundProgress,
    get_format,
    list_open_rounds,
    load_legs,
    load_state,
    new_round,
    newest_round,
    parse_table,
    with_round,
)
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament, TournamentRound

MAX_OPEN_AHEAD: Final = 500  # open matches up to which further rounds of a static format are created in advance
EXTENDS_TABLES: Final = (TournamentFormat.KNOCKOUT,)  # the formats that may require more matches at a table
TABLES_AHEAD: Final = 200  # tables of a static format paired in one step


@dataclass(frozen=True, slots=True)
class Step:
    """Represent the next step of a tournament. ``take`` takes it, unless it is no longer the next step."""

    name: str
    take: Callable[[Session, Tournament, bytes], None]


def take_next_step(database: Database, tournament_id: str, *, master_key: bytes) -> str | None:
    """Take the next step of a running tournament; return its name, or None if the tournament must wait."""
    with database.read() as session:
        tournament = session.get(Tournament, tournament_id)
        is_running = tournament is not None and tournament.status == TournamentState.RUNNING
        step = find_next_step(session, tournament) if tournament is not None and is_running else None
        seen = 0 if tournament is None else tournament.revision
    if step is None:
        return None
    with database.write() as session:
        locked = select(Tournament).where(Tournament.id == tournament_id).with_for_update()
        tournament = session.scalars(locked).one()
        if tournament.status != TournamentState.RUNNING or tournament.revision != seen:
            return step.name  # the tournament has changed, so the caller has to find the next step again
        step.take(session, tournament, master_key)
    return step.name


def list_running(session: Session) -> list[str]:
    """Return the ids of running tournaments."""
    query = select(Tournament.id).where(Tournament.status == TournamentState.RUNNING)
    return list(session.scalars(query.order_by(Tournament.id)))


def find_next_step(session: Session, tournament: Tournament) -> Step | None:
    """Return the next step, or None if the tournament must wait."""
    moment = current_time(session)
    if preflight.needs_update(session, tournament, moment):
        return Step("settled", lambda session, tournament, _: preflight.update_entries(session, tournament))
    if tournament.preflight_until is not None:
        is_over = preflight.is_over(session, tournament, moment)
        return Step("begun", lambda session, tournament, _: starting.begin(session, tournament)) if is_over else None
    if blockers.blocking_reason(session, tournament) != tournament.status_reason:
        return Step(
            "blockers reported", lambda session, tournament, _: blockers.update_blocking_reason(session, tournament)
        )
    if tournament.game not in catalogue():
        return None
    rounds = list_open_rounds(session, tournament)
    return (
        _next_creation_step(tournament, rounds, moment)
        or _next_extension_step(session, tournament, rounds)
        or _next_end_step(tournament, rounds)
        or _next_pairing_step(session, tournament, rounds)
    )


# -- the matches of a round --


def _next_creation_step(tournament: Tournament, rounds: Sequence[RoundProgress], moment: datetime) -> Step | None:
    """Return the step that creates matches at the next tables of the first round that has tables without matches.

    Return None while that round waits for its time.
    """
    if get_format(tournament).static and sum(seen.open for seen in rounds) >= MAX_OPEN_AHEAD:
        return None
    for seen in rounds:
        if seen.arranged < seen.tables:
            if seen.starts_at is not None and seen.starts_at > moment:
                return None
            return Step("arranged", partial(_create_matches, seen))
    return None


def _create_matches(seen: RoundProgress, session: Session, tournament: Tournament, master_key: bytes) -> None:
    tournament_round = session.get_one(TournamentRound, (tournament.id, seen.number))
    if tournament_round.arranged == seen.arranged:
        match_creation.arrange_portion(session, tournament, tournament_round, master_key=master_key)


def _next_extension_step(session: Session, tournament: Tournament, rounds: Sequence[RoundProgress]) -> Step | None:
    """Return the step that creates more matches at tables whose matches have ended, if the format requires them."""
    if tournament.format not in EXTENDS_TABLES:
        return None
    state = None
    for seen in rounds:
        decided = _ended_tables(session, tournament, seen.number)
        if not decided:
            continue
        state = state or load_state(session, tournament, before=seen.number)
        wanted = _choose_extensions(session, tournament, seen.number, decided, state)
        if wanted:
            return Step("extended", partial(_extend_tables, seen.number, wanted))
    return None


def _ended_tables(session: Session, tournament: Tournament, number: int) -> list[int]:
    """Return the numbers of those tables of a round that have finished matches and no open ones."""
    is_open = func.sum(case((StoredMatch.status.in_(OPEN), 1), else_=0))
    finished = func.sum(case((StoredMatch.status == MatchState.FINISHED, 1), else_=0))
    query = select(StoredMatch.table_no).group_by(StoredMatch.table_no).order_by(StoredMatch.table_no)
    query = query.where(StoredMatch.tournament_id == tournament.id, StoredMatch.tournament_round == number)
    query = query.having(and_(is_open == 0, finished > 0))
    return [table_no for table_no in session.scalars(query) if table_no is not None]


def _choose_extensions(
    session: Session, tournament: Tournament, number: int, decided: Sequence[int], state: pairing.PairingInput
) -> list[MatchesToCreate]:
    tables = session.get_one(TournamentRound, (tournament.id, number)).tables
    legs = load_legs(session, tournament, number, decided)
    done = count_sets(session, tournament, number, decided)
    wanted = []
    players = match_creation.find_players(
        session, tournament, {entrant for number in decided for entrant in tables[number - 1]["entrants"]}
    )
    for table_no in decided:
        table = parse_table(tables[table_no - 1])
        if not all(players.get(entrant) for entrant in table.entrants):
            continue  # an entrant withdrew: the matches played so far decide
        more = get_format(tournament).more_legs(state, table, legs[number, table_no])
        if more:
            wanted.append(MatchesToCreate(table_no, table, None, more, done[table_no]))
    matches_per_set = len(match_creation.seat_orders(tournament, tournament.seats))
    return match_creation.take_portion(([table] for table in wanted), matches_per_set)


def _extend_tables(
    number: int, wanted: Sequence[MatchesToCreate], session: Session, tournament: Tournament, master_key: bytes
) -> None:
    done = count_sets(session, tournament, number, [matches.table_no for matches in wanted])
    left = [matches for matches in wanted if done[matches.table_no] == matches.done]
    match_creation.arrange_tables(session, tournament, number, left, master_key=master_key)


# -- the sequence of rounds --


def _next_end_step(tournament: Tournament, rounds: Sequence[RoundProgress]) -> Step | None:
    """Return the step that ends those rounds whose matches have all been created and have all ended, or None."""
    ended = [seen.number for seen in rounds if seen.arranged == seen.tables and seen.open == 0]
    return Step("round over", partial(_end_rounds, ended)) if ended else None


def _end_rounds(numbers: Sequence[int], session: Session, tournament: Tournament, _: bytes) -> None:
    ended = TournamentRound.tournament_id == tournament.id, TournamentRound.number.in_(numbers)
    session.execute(update(TournamentRound).where(*ended).values(ended_at=current_time(session)))


def _next_pairing_step(session: Session, tournament: Tournament, rounds: Sequence[RoundProgress]) -> Step | None:
    """Return the step that pairs the next rounds or, if none is left, finishes the tournament.

    Return None while the tournament must wait for open matches, including rematches in earlier rounds.
    """
    static = get_format(tournament).static
    if rounds if not static else sum(seen.open for seen in rounds) >= MAX_OPEN_AHEAD:
        return None
    if not static and _has_open_matches(session, tournament):
        return None
    state = load_state(session, tournament)
    decided, before, moment = _decide_rounds(tournament, state), len(state.played), current_time(session)
    if decided:
        rows = [
            new_round(session, tournament, before + index, pairing_round, moment)
            for index, pairing_round in enumerate(decided, 1)
        ]
        round_timing.set_start_times(session, tournament, rows, moment)
        planned = match_creation.expect_matches(tournament, reduce(with_round, decided, state))
        return Step("paired", partial(_store_rounds, before, rows, planned))
    if rounds or _has_open_matches(session, tournament):
        return None
    return Step("finished", _finish_tournament)


def _decide_rounds(tournament: Tournament, state: pairing.PairingInput) -> list[pairing.PairingRound]:
    """Return the rounds that can be paired now: one, or several in a static format, which does not need results."""
    format = get_format(tournament)
    decided: list[pairing.PairingRound] = []
    tables = 0
    while tables < TABLES_AHEAD and (format.static or not decided):
        pairing_round = format.next_round(state)
        if pairing_round is None:
            break
        decided.append(pairing_round)
        tables += len(pairing_round.tables)
        state = with_round(state, pairing_round)
    return decided


def _store_rounds(
    before: int, rows: Sequence[TournamentRound], planned: int, session: Session, tournament: Tournament, _: bytes
) -> None:
    if newest_round(session, tournament.id) == before:
        session.add_all(rows)
        tournament.expected_matches = planned
        session.flush()


def _finish_tournament(session: Session, tournament: Tournament, _: bytes) -> None:
    if _has_open_matches(session, tournament):
        return
    tournament.status, tournament.finished_at = TournamentState.FINISHED, current_time(session)
    tournament.revision += 1
    starting.notify_participants(session, tournament, TournamentFinished)


def _has_open_matches(session: Session, tournament: Tournament) -> bool:
    open_matches = exists().where(StoredMatch.tournament_id == tournament.id, StoredMatch.status.in_(OPEN))
    return bool(session.scalar(select(open_matches)))
