"""Create the matches of continuous ladders: keep the configured number of matches open while a ladder runs."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.matches.scheduling import create_matches
from referee.matches.states import PLAYABLE, WITHOUT_RESULT
from referee.matches.tables import MatchSeat, StoredMatch
from referee.pairing import Entrant
from referee.pairing.ladder import LadderState, next_tables
from referee.tournaments.entrants import load_entrants
from referee.tournaments.match_creation import find_players, plan_match
from referee.tournaments.rounds import get_draw_key
from referee.tournaments.tables import Tournament

SEATS_PER_STEP: Final = 160  # seats at the tables chosen in one step
MAX_RECENT_MATCHES: Final = 1000  # recent matches in which meetings and seats are counted


@dataclass(frozen=True, slots=True)
class NextTables:
    """Hold the tables to create after match number ``serial`` of the ladder, each with its entrants in seat order."""

    serial: int
    tables: Sequence[tuple[str, ...]]


def is_ending(tournament: Tournament) -> bool:
    """Return whether the organiser has ended the ladder, so that no more matches are created."""
    return bool(tournament.expected_matches)


def last_serial(session: Session, tournament_id: str) -> int:
    """Return the number of the ladder's last match (stored as its table number), or 0 before the first."""
    newest = select(func.max(StoredMatch.table_no)).where(
        StoredMatch.tournament_id == tournament_id, StoredMatch.tournament_round.is_(None)
    )
    return session.scalar(newest) or 0


def choose_tables(session: Session, tournament: Tournament) -> NextTables | None:
    """Return the next tables, or None as long as enough matches are open or too few entrants are free."""
    busy, in_flight = _count_open_matches(session, tournament)
    want = int(tournament.format_options["at_once"]) - in_flight
    if want <= 0:
        return None
    serial = last_serial(session, tournament.id)
    meetings, seat_counts = _recent_meetings(session, tournament, serial)
    with_games = _count_recent_games(load_entrants(session, tournament, today=True), seat_counts)
    tables = next_tables(
        [entrant for entrant in with_games if entrant.active],
        LadderState(tournament.seats, tournament.format_options, busy, meetings, seat_counts),
        want=min(want, SEATS_PER_STEP // tournament.seats),
        draw_key=get_draw_key(tournament),
        serial=serial,
    )
    return NextTables(serial, tables) if tables else None


def arrange_tables(session: Session, tournament: Tournament, wanted: NextTables, *, master_key: bytes) -> bool:
    """Create matches at the tables.

    Return whether any was created; another process may have created matches meanwhile.
    """
    if last_serial(session, tournament.id) != wanted.serial:
        return False
    players = find_players(session, tournament, {entrant for table in wanted.tables for entrant in table})
    plans = [
        plan_match(tournament, table, players, table_no=number, leg=1)
        for number, table in enumerate(wanted.tables, wanted.serial + 1)
        if all(players.get(entrant) for entrant in table)
    ]
    return bool(create_matches(session, plans, master_key=master_key))


def _count_recent_games(entered: Sequence[Entrant], seat_counts: dict[str, list[int]]) -> list[Entrant]:
    """Return the entrants, with ``games`` raised to at least the number of their recent matches in this ladder."""
    return [replace(entrant, games=max(entrant.games, sum(seat_counts.get(entrant.id, ())))) for entrant in entered]


def _count_open_matches(session: Session, tournament: Tournament) -> tuple[dict[str, int], int]:
    """Return the number of open matches of each entrant, and the number of all open matches."""
    entrant = func.coalesce(MatchSeat.entrant_id, MatchSeat.bot_id)
    query = select(entrant, MatchSeat.match_id).join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
    rows = session.execute(
        query.where(StoredMatch.tournament_id == tournament.id, StoredMatch.status.in_(PLAYABLE))
    ).all()
    return dict(Counter(entrant_id for entrant_id, _ in rows)), len({match_id for _, match_id in rows})


def _recent_meetings(
    session: Session, tournament: Tournament, serial: int
) -> tuple[dict[frozenset[str], int], dict[str, list[int]]]:
    """Count each pair's meetings, and each entrant's matches in each seat, in recent matches and open ones."""
    entrant = func.coalesce(MatchSeat.entrant_id, MatchSeat.bot_id)
    query = select(MatchSeat.match_id, MatchSeat.seat, entrant).join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
    query = query.where(
        StoredMatch.tournament_id == tournament.id,
        StoredMatch.tournament_round.is_(None),
        StoredMatch.table_no > serial - MAX_RECENT_MATCHES,
        StoredMatch.status.not_in(WITHOUT_RESULT),
    )
    seat_counts: dict[str, list[int]] = defaultdict(lambda: [0] * tournament.seats)
    tables: dict[str, list[str]] = defaultdict(list)
    for match_id, seat, entrant_id in session.execute(query):
        seat_counts[entrant_id][seat] += 1
        tables[match_id].append(entrant_id)
    meetings = Counter(frozenset(pair) for table in tables.values() for pair in combinations(table, 2))
    return dict(meetings), dict(seat_counts)
