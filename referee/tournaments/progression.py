"""Carrying an event on: one small step after the other, each found in a snapshot and written in a transaction.

What comes next follows from the record alone, so that anybody may take any step, and the process that did the last
one may be gone. A step that another has taken meanwhile is not taken again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Final

from sqlalchemy import and_, case, exists, func, select, update
from sqlalchemy.orm import Session

from referee import pairing
from referee.db.engine import Database, current_time
from referee.matches.tables import OPEN, Match
from referee.tournaments import blockers, match_creation, matchmaking, preflight, starting
from referee.tournaments.match_creation import MatchesToCreate, sets_arranged
from referee.tournaments.rounds import (
    RoundProgress,
    event_of,
    extents,
    following,
    format_of,
    legs_of,
    newest,
    row_of,
    table_of,
)
from referee.tournaments.tables import Tournament, TournamentRound

AHEAD: Final = 500  # open matches up to which an event that looks at no result is arranged beforehand
DECIDED_AT_ONCE: Final = ("round_robin", "double_round_robin", "swiss", "gauntlet")  # no table asks for more matches
TABLES_AHEAD: Final = 200  # tables of such an event decided in one step


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done next. ``take`` does it, or tells that it no longer is the next."""

    name: str
    take: Callable[[Session, Tournament, bytes], bool]


def carry_on(database: Database, tournament_id: str, *, master_key: bytes) -> str | None:
    """Takes the next step of a running event; its name, or None when it has to wait for something."""
    with database.read() as session:
        tournament = session.get(Tournament, tournament_id)
        step = None if tournament is None or tournament.status != "running" else next_step(session, tournament)
        seen = 0 if tournament is None else tournament.revision
    if step is None:
        return None
    with database.write() as session:
        locked = select(Tournament).where(Tournament.id == tournament_id).with_for_update()
        tournament = session.scalars(locked).one()
        if tournament.status != "running" or tournament.revision != seen:
            return step.name  # somebody changed the event meanwhile: look again
        step.take(session, tournament, master_key)
    return step.name


def running(session: Session) -> list[str]:
    """The events that are to be carried on."""
    return list(session.scalars(select(Tournament.id).where(Tournament.status == "running").order_by(Tournament.id)))


def next_step(session: Session, tournament: Tournament) -> Step | None:
    """What the record says is to be done next; None to wait."""
    moment = current_time(session)
    if preflight.is_unsettled(session, tournament, moment):
        return Step("settled", _settle)
    if tournament.preflight_until is not None:
        return Step("begun", _begin) if preflight.is_over(session, tournament, moment) else None
    if blockers.reason(session, tournament) != tournament.status_reason:
        return Step("told", _tell_what_holds_up)
    if tournament.format == "ladder":
        return _to_match(session, tournament)
    stages = extents(session, tournament)
    return (
        _to_arrange(tournament, stages)
        or _to_extend(session, tournament, stages)
        or _to_end(tournament, stages)
        or _to_pair(session, tournament, stages)
    )


def _settle(session: Session, tournament: Tournament, _: bytes) -> bool:
    preflight.settle(session, tournament)
    return True


def _begin(session: Session, tournament: Tournament, _: bytes) -> bool:
    return starting.begin(session, tournament)


def _tell_what_holds_up(session: Session, tournament: Tournament, _: bytes) -> bool:
    return blockers.tell(session, tournament)


# -- a ladder, which has no stages --


def _to_match(session: Session, tournament: Tournament) -> Step | None:
    if matchmaking.is_ending(tournament):
        return None if _anything_open(session, tournament) else Step("finished", _finish)
    wanted = matchmaking.tables_wanted(session, tournament)
    return Step("matched", partial(_match, wanted)) if wanted else None


def _match(wanted: matchmaking.NextTables, session: Session, tournament: Tournament, master_key: bytes) -> bool:
    return matchmaking.arrange_tables(session, tournament, wanted, master_key=master_key)


# -- a stage's matches --


def _to_arrange(tournament: Tournament, stages: Sequence[RoundProgress]) -> Step | None:
    """The next portion of the first stage that is not arranged."""
    if format_of(tournament).static and sum(stage.open for stage in stages) >= AHEAD:
        return None
    for stage in stages:
        if stage.arranged < stage.tables:
            return Step("arranged", partial(_arrange, stage))
    return None


def _arrange(seen: RoundProgress, session: Session, tournament: Tournament, master_key: bytes) -> bool:
    stage = session.get_one(TournamentRound, (tournament.id, seen.number))
    if stage.arranged != seen.arranged:
        return False
    match_creation.arrange_portion(session, tournament, stage, master_key=master_key)
    return True


def _to_extend(session: Session, tournament: Tournament, stages: Sequence[RoundProgress]) -> Step | None:
    """More matches at tables whose matches are over, where the format asks for them."""
    if tournament.format in DECIDED_AT_ONCE:
        return None
    event = None
    for seen in stages:
        decided = _over_tables(session, tournament, seen.number)
        if not decided:
            continue
        event = event or event_of(session, tournament, before=seen.number)
        wanted = _extensions(session, tournament, seen.number, decided, event)
        if wanted:
            return Step("extended", partial(_extend, seen.number, wanted))
    return None


def _over_tables(session: Session, tournament: Tournament, stage: int) -> list[int]:
    """The tables of a stage at which something was played and nothing is going on."""
    going_on = func.sum(case((Match.status.in_(OPEN), 1), else_=0))
    finished = func.sum(case((Match.status == "finished", 1), else_=0))
    query = select(Match.table_no).where(Match.tournament_id == tournament.id, Match.tournament_round == stage)
    query = query.group_by(Match.table_no).having(and_(going_on == 0, finished > 0)).order_by(Match.table_no)
    return [table_no for table_no in session.scalars(query) if table_no is not None]


def _extensions(
    session: Session, tournament: Tournament, stage: int, decided: Sequence[int], event: pairing.TournamentState
) -> list[MatchesToCreate]:
    tables = session.get_one(TournamentRound, (tournament.id, stage)).tables
    legs = legs_of(session, tournament, stage, decided)
    done = sets_arranged(session, tournament, stage, decided)
    wanted = []
    players = match_creation.players_of(
        session, tournament, {one for at in decided for one in tables[at - 1]["entrants"]}
    )
    for table_no in decided:
        table = table_of(tables[table_no - 1])
        if not all(players.get(entrant) for entrant in table.entrants):
            continue  # somebody left: what was played so far decides
        more = format_of(tournament).more_legs(event, table, legs[stage, table_no])
        if more:
            wanted.append(MatchesToCreate(table_no, table, None, more, done[table_no]))
    return wanted[: match_creation.PORTION // tournament.seats]


def _extend(
    stage: int, wanted: Sequence[MatchesToCreate], session: Session, tournament: Tournament, master_key: bytes
) -> bool:
    done = sets_arranged(session, tournament, stage, [one.table_no for one in wanted])
    left = [one for one in wanted if done[one.table_no] == one.done]
    return bool(match_creation.arrange_tables(session, tournament, stage, left, master_key=master_key))


# -- one stage after the other --


def _to_end(tournament: Tournament, stages: Sequence[RoundProgress]) -> Step | None:
    """The end of stages of which nothing is left to be played."""
    over = [stage.number for stage in stages if stage.arranged == stage.tables and stage.open == 0]
    return Step("stage over", partial(_end, over)) if over else None


def _end(numbers: Sequence[int], session: Session, tournament: Tournament, _: bytes) -> bool:
    ended = update(TournamentRound).where(
        TournamentRound.tournament_id == tournament.id, TournamentRound.number.in_(numbers)
    )
    session.execute(ended.values(ended_at=current_time(session)))
    return True


def _to_pair(session: Session, tournament: Tournament, stages: Sequence[RoundProgress]) -> Step | None:
    """The next stages; none is left: the end of the event. A replay in an earlier stage is waited for."""
    static = format_of(tournament).static
    if stages if not static else sum(stage.open for stage in stages) >= AHEAD:
        return None
    if not static and _anything_open(session, tournament):
        return None
    event = event_of(session, tournament)
    decided, before, moment = _decide_rounds(tournament, event), len(event.played), current_time(session)
    if decided:
        rows = [row_of(session, tournament, before + at, stage, moment) for at, stage in enumerate(decided, 1)]
        planned = format_of(tournament).expected_matches(reduce(following, decided, event)) * len(
            match_creation.orders(tournament)
        )
        return Step("paired", partial(_pair, before, rows, planned))
    if stages or _anything_open(session, tournament):
        return None
    return Step("finished", _finish)


def _decide_rounds(tournament: Tournament, event: pairing.TournamentState) -> list[pairing.PairingRound]:
    """The stages that can be decided now: one, or some that depend on no result."""
    format = format_of(tournament)
    decided: list[pairing.PairingRound] = []
    tables = 0
    while tables < TABLES_AHEAD and (format.static or not decided):
        stage = format.next_round(event)
        if stage is None:
            break
        decided.append(stage)
        tables += len(stage.tables)
        event = following(event, stage)
    return decided


def _pair(
    before: int, rows: Sequence[TournamentRound], planned: int, session: Session, tournament: Tournament, _: bytes
) -> bool:
    if newest(session, tournament.id) != before:
        return False
    session.add_all(rows)
    tournament.expected_matches = planned
    session.flush()
    return True


def _finish(session: Session, tournament: Tournament, _: bytes) -> bool:
    if _anything_open(session, tournament):
        return False
    tournament.status, tournament.finished_at = "finished", current_time(session)
    tournament.revision += 1
    starting.tell(session, tournament, "tournament.finished")
    return True


def _anything_open(session: Session, tournament: Tournament) -> bool:
    open_matches = exists().where(Match.tournament_id == tournament.id, Match.status.in_(OPEN))
    return bool(session.scalar(select(open_matches)))
