"""Create the matches of a round: decide the seats in each leg and which matches share their cards."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.match.time_limits import Limits
from referee.matches.scheduling import Deal, MatchPlan, create_matches
from referee.matches.states import DealSharing
from referee.matches.tables import StoredMatch
from referee.pairing import PairingInput, Table
from referee.pairing.kinds import SeatOrders
from referee.tournaments.entrants import load_entrant_seats
from referee.tournaments.rounds import get_format, parse_table
from referee.tournaments.table_options import options_at
from referee.tournaments.tables import Tournament, TournamentRound

MATCHES_PER_TRANSACTION: Final = 500  # of which each takes the only writer of SQLite about 0.1 ms

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class MatchesToCreate:
    """Describe the matches to create at a table: ``sets`` sets of matches, after the ``done`` sets that exist.

    A set is one match or, with duplicate deals, one match for each order of the seats. Tables with the same ``section``
    share their cards.
    """

    table_no: int
    table: Table
    section: int | None
    sets: int
    done: int = 0


def arrange_portion(session: Session, tournament: Tournament, row: TournamentRound, *, master_key: bytes) -> int:
    """Create the first matches of the round's next tables.

    Return the number of these tables. ``row.arranged`` records in the same transaction how far the round is, so a crash
    loses and doubles nothing. A table gets no matches if one of its entrants withdrew, or cannot play and has no
    substitute.
    """
    tables = next_portion(row.tables, row.arranged, len(seat_orders(tournament, tournament.seats)))
    arrange_tables(session, tournament, row.number, tables, master_key=master_key)
    row.arranged += len(tables)
    session.flush()
    return len(tables)


def next_portion(tables: Sequence[Json], arranged: int, matches_per_set: int) -> list[MatchesToCreate]:
    """Return the next tables of a round of which ``arranged`` are done, as many sections as fit into a portion."""
    sections = [table["section"] for table in tables]
    in_order = sorted(range(len(tables)), key=sections.__getitem__)[arranged:]
    wanted = (
        [MatchesToCreate(index + 1, parse_table(tables[index]), section, tables[index]["legs"]) for index in indexes]
        for section, indexes in groupby(in_order, key=sections.__getitem__)
    )
    return take_portion(wanted, matches_per_set)


def take_portion(units: Iterable[Sequence[MatchesToCreate]], matches_per_set: int) -> list[MatchesToCreate]:
    """Return the tables of the first units that together need at most ``MATCHES_PER_TRANSACTION`` matches.

    There is at least one unit; tables that share their cards belong to one unit and are never split.
    """
    taken: list[MatchesToCreate] = []
    matches = 0
    for unit in units:
        matches += sum(wanted.sets for wanted in unit) * matches_per_set
        if taken and matches > MATCHES_PER_TRANSACTION:
            break
        taken += unit
    return taken


def arrange_tables(
    session: Session,
    tournament: Tournament,
    tournament_round: int,
    tables: Sequence[MatchesToCreate],
    *,
    master_key: bytes,
) -> list[str]:
    """Create matches at those tables whose entrants can all play. Return the ids of the matches."""
    by_entrant = find_players(session, tournament, {entrant for wanted in tables for entrant in wanted.table.entrants})
    played = [wanted for wanted in tables if all(by_entrant.get(entrant) for entrant in wanted.table.entrants)]
    shared = Counter(wanted.section for wanted in played if wanted.section is not None)
    plans = [
        plan
        for wanted in played
        for plan in _plan_matches(
            tournament,
            tournament_round,
            wanted,
            by_entrant,
            shares=wanted.section is not None and shared[wanted.section] > 1,
        )
    ]
    return create_matches(session, plans, master_key=master_key)


def find_players(session: Session, tournament: Tournament, entrants: Iterable[str]) -> dict[str, str | None]:
    """Return the id of the bot that now plays for each entrant, or None if none does, keyed by entrant id."""
    seats = load_entrant_seats(session, tournament, set(entrants))
    return {seat.bot_id: seat.current_player(tournament) for seat in seats}


def expect_matches(tournament: Tournament, state: PairingInput) -> int:
    """Return the number of matches of the whole tournament, as far as it can be predicted."""
    return get_format(tournament).expected_matches(state, lambda size: len(seat_orders(tournament, size)))


def seat_orders(tournament: Tournament, size: int) -> list[tuple[int, ...]]:
    """Return the seat orders of the matches of one set at a table with ``size`` seats.

    Each order has the index of an entrant for each seat.
    """
    seats = tuple(range(size))
    if tournament.deal_sharing != DealSharing.DUPLICATE:
        return [seats]
    if tournament.orders == SeatOrders.ALL:
        return list(permutations(seats))
    return [_rotate_seats(seats, by) for by in seats]


def _plan_match(
    tournament: Tournament, entrants: Sequence[str], players: Mapping[str, str | None], **more: Any
) -> MatchPlan:
    """Return the plan of a match.

    ``players`` are the bots that play for the entrants; ``more`` are further fields of the plan.
    """
    return MatchPlan(
        game=tournament.game,
        bots=[players[entrant] or entrant for entrant in entrants],
        options=options_at(tournament.game, tournament.seats, tournament.options, len(entrants)),
        limits=Limits(tournament.budget_ms, tournament.bank_ms),
        rated=tournament.rated,
        created_by=tournament.created_by,
        tournament_id=tournament.id,
        listed=tournament.listed,
        entrants=list(entrants),
        **more,
    )


def count_sets(
    session: Session, tournament: Tournament, tournament_round: int, tables: Sequence[int]
) -> dict[int, int]:
    """Return the number of sets of matches at each of these tables, keyed by table number.

    Omit tables without matches.
    """
    columns = StoredMatch.table_no, func.max(StoredMatch.leg), func.max(StoredMatch.seats)
    query = select(*columns).where(StoredMatch.tournament_id == tournament.id)
    query = query.where(StoredMatch.tournament_round == tournament_round, StoredMatch.table_no.in_(tables))
    return {
        table_no: leg // len(seat_orders(tournament, size))
        for table_no, leg, size in session.execute(query.group_by(StoredMatch.table_no))
        if table_no and leg
    }


def _plan_matches(
    tournament: Tournament,
    tournament_round: int,
    wanted: MatchesToCreate,
    players: Mapping[str, str | None],
    *,
    shares: bool,
) -> list[MatchPlan]:
    seat_permutations = seat_orders(tournament, len(wanted.table.entrants))
    plans = []
    for number in range(wanted.done, wanted.done + wanted.sets):
        seated = _rotate_seats(wanted.table.entrants, number if len(seat_permutations) == 1 else 0)
        for index_in_set, order in enumerate(seat_permutations):
            plans.append(
                _plan_match(
                    tournament,
                    [seated[index] for index in order],
                    players,
                    tournament_round=tournament_round,
                    table_no=wanted.table_no,
                    leg=number * len(seat_permutations) + index_in_set + 1,
                    deal=_deal(wanted, number, duplicate=len(seat_permutations) > 1, shares=shares),
                )
            )
    return plans


def _deal(wanted: MatchesToCreate, number: int, *, duplicate: bool, shares: bool) -> Deal | None:
    if duplicate:
        return Deal((wanted.table_no, number), DealSharing.DUPLICATE)
    return Deal((wanted.section, number), DealSharing.COMMON) if shares else None


def _rotate_seats(entrants: tuple[Any, ...], shift: int) -> tuple[Any, ...]:
    shift %= len(entrants)
    return entrants[shift:] + entrants[:shift]
