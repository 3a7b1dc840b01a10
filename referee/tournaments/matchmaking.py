"""The continuous ladder: as many matches in flight as its options say, for as long as it runs."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.matches.scheduling import arrange
from referee.matches.tables import GOING_ON, Match, MatchSeat
from referee.pairing import Entrant
from referee.pairing.ladder import LadderState, next_tables
from referee.tournaments.entrants import entrants
from referee.tournaments.match_creation import PORTION, plan_for, players_of
from referee.tournaments.rounds import draw_of
from referee.tournaments.tables import Tournament

REMEMBERED: Final = 1000  # matches in which meetings and seats are counted


@dataclass(frozen=True, slots=True)
class NextTables:
    """Tables to be arranged after match number ``serial`` of the event."""

    serial: int
    tables: Sequence[tuple[str, ...]]


def is_ending(tournament: Tournament) -> bool:
    """Whether its organiser has ended it: what it has is then all there will be."""
    return bool(tournament.expected_matches)


def serial_of(session: Session, tournament_id: str) -> int:
    """How many matches the ladder has made; they are numbered where other events number their tables."""
    newest = select(func.max(Match.table_no)).where(
        Match.tournament_id == tournament_id, Match.tournament_round.is_(None)
    )
    return session.scalar(newest) or 0


def tables_wanted(session: Session, tournament: Tournament) -> NextTables | None:
    """The next tables, decided from the record; None while enough are in flight, or nobody is free."""
    busy, in_flight = _in_flight(session, tournament)
    want = int(tournament.format_options["at_once"]) - in_flight
    if want <= 0:
        return None
    serial = serial_of(session, tournament.id)
    met, sat = _recent_meetings(session, tournament, serial)
    tables = next_tables(
        [one for one in _with_games(entrants(session, tournament, today=True), sat) if one.active],
        LadderState(tournament.seats, tournament.format_options, busy, met, sat),
        want=min(want, PORTION // tournament.seats),
        draw_key=draw_of(tournament),
        serial=serial,
    )
    return NextTables(serial, tables) if tables else None


def arrange_tables(session: Session, tournament: Tournament, wanted: NextTables, *, master_key: bytes) -> bool:
    """Arranges them, unless another has arranged some since they were decided."""
    if serial_of(session, tournament.id) != wanted.serial:
        return False
    players = players_of(session, tournament, {one for table in wanted.tables for one in table})
    plans = [
        plan_for(tournament, table, players, table_no=number, leg=1)
        for number, table in enumerate(wanted.tables, wanted.serial + 1)
        if all(players.get(entrant) for entrant in table)
    ]
    return bool(arrange(session, plans, master_key=master_key))


def _with_games(entered: Sequence[Entrant], sat: dict[str, list[int]]) -> list[Entrant]:
    """Where ratings tell of fewer matches than were played here, those played here."""
    return [replace(one, games=max(one.games, sum(sat.get(one.id, ())))) for one in entered]


def _in_flight(session: Session, tournament: Tournament) -> tuple[dict[str, int], int]:
    """(matches that each entrant is in now, matches in all)."""
    entrant = func.coalesce(MatchSeat.entrant_id, MatchSeat.bot_id)
    query = select(entrant, MatchSeat.match_id).join(Match, Match.id == MatchSeat.match_id)
    rows = session.execute(query.where(Match.tournament_id == tournament.id, Match.status.in_(GOING_ON))).all()
    return dict(Counter(one for one, _ in rows)), len({match_id for _, match_id in rows})


def _recent_meetings(
    session: Session, tournament: Tournament, serial: int
) -> tuple[dict[frozenset[str], int], dict[str, list[int]]]:
    """(how often two have met, how often each had each seat) in the last matches, those in flight among them."""
    entrant = func.coalesce(MatchSeat.entrant_id, MatchSeat.bot_id)
    query = select(MatchSeat.match_id, MatchSeat.seat, entrant).join(Match, Match.id == MatchSeat.match_id)
    query = query.where(
        Match.tournament_id == tournament.id,
        Match.tournament_round.is_(None),
        Match.table_no > serial - REMEMBERED,
        Match.status.not_in(["cancelled", "void"]),
    )
    sat: dict[str, list[int]] = defaultdict(lambda: [0] * tournament.seats)
    tables: dict[str, list[str]] = defaultdict(list)
    for match_id, seat, one in session.execute(query):
        sat[one][seat] += 1
        tables[match_id].append(one)
    met = Counter(frozenset(pair) for table in tables.values() for pair in combinations(table, 2))
    return dict(met), dict(sat)
