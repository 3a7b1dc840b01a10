"""Load and store rounds, and build the state of a tournament from which its format computes pairings."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee import pairing
from referee.bots.tables import Bot
from referee.matches.states import OPEN, DealSharing, MatchState
from referee.matches.tables import Result, StoredMatch
from referee.pairing.duplicates import merge_duplicates
from referee.pairing.formats import formats
from referee.pairing.kinds import TournamentFormat
from referee.pairing.sections import sections
from referee.tournaments.entrants import load_entrants
from referee.tournaments.outcomes import scored_seats
from referee.tournaments.tables import Tournament, TournamentEntry, TournamentRound

Json = dict[str, Any]
MAX_GROUP_SEATS: Final = 160  # seats in a deal group, whose matches are created in one transaction


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """Hold a round's progress: ``arranged`` of its ``tables`` have matches, and ``open`` matches have not ended."""

    number: int
    tables: int
    arranged: int
    open: int
    starts_at: datetime | None = None


def get_format(tournament: Tournament) -> pairing.Format:
    return formats()[tournament.format]


def get_draw_key(tournament: Tournament) -> bytes:
    """Return the key of all random choices of a tournament.

    Before the start, when it is not used, return 32 zero bytes.
    """
    return tournament.draw_key or bytes(32)


def load_state(session: Session, tournament: Tournament, *, before: int | None = None) -> pairing.PairingInput:
    """Return the state of the tournament: its current entrants, and its rounds with their results.

    If ``before`` is given, include only rounds with lower numbers. Omit the results for static formats, which do not
    depend on them.
    """
    query = select(TournamentRound).where(TournamentRound.tournament_id == tournament.id)
    if before is not None:
        query = query.where(TournamentRound.number < before)
    rows = list(session.scalars(query.order_by(TournamentRound.number)))
    legs = {} if get_format(tournament).static else load_legs(session, tournament)
    return pairing.PairingInput(
        seats=tournament.seats,
        options=tournament.format_options,
        cycles=tournament.cycles,
        entrants=load_entrants(session, tournament),
        played=tuple(_played_round(row, legs) for row in rows),
        draw_key=get_draw_key(tournament),
        min_seats=tournament.min_seats,
    )


def load_state_and_open_round(
    session: Session, tournament: Tournament
) -> tuple[pairing.PairingInput, pairing.PairingRound | None]:
    """Return the state before the round in progress, and that round.

    Return None in place of the round if the newest round has ended.
    """
    of_tournament = select(TournamentRound).where(TournamentRound.tournament_id == tournament.id)
    row = session.scalar(of_tournament.order_by(TournamentRound.number.desc()).limit(1))
    if row is None or row.ended_at is not None:
        return load_state(session, tournament), None
    return load_state(session, tournament, before=row.number), _pairing_round(row)


def load_legs(
    session: Session, tournament: Tournament, tournament_round: int | None = None, tables: Sequence[int] | None = None
) -> dict[tuple[int, int], list[pairing.Leg]]:
    """Return the finished matches of one round or all rounds, and of some tables or all tables.

    They are keyed by (round, table), in order of their legs. In a knockout, which counts legs, the matches of a
    duplicate set are merged into one leg.
    """
    by_seat = Result.bots, Result.entrants, Result.placements, Result.returns
    query = select(StoredMatch.tournament_round, StoredMatch.table_no, StoredMatch.group_id, *by_seat)
    query = query.join(Result, Result.match_id == StoredMatch.id)
    query = query.where(StoredMatch.tournament_id == tournament.id, StoredMatch.status == MatchState.FINISHED)
    if tournament_round is not None:
        query = query.where(StoredMatch.tournament_round == tournament_round)
    if tables is not None:
        query = query.where(StoredMatch.table_no.in_(tables))
    sets_are_legs = tournament.format == TournamentFormat.KNOCKOUT and tournament.deal_sharing == DealSharing.DUPLICATE
    found: dict[tuple[int, int], dict[object, list[pairing.Leg]]] = defaultdict(dict)
    in_order = StoredMatch.tournament_round, StoredMatch.table_no, StoredMatch.leg, Result.seq
    rows = session.execute(query.order_by(*in_order))
    for index, (number, table_no, group, bots, *by_seat_values) in enumerate(rows):
        entrants, placements, returns = (tuple(values) for values in by_seat_values)
        leg = pairing.Leg(entrants, placements, returns, scored_seats(entrants, bots))
        found[number, table_no].setdefault(group if sets_are_legs else index, []).append(leg)
    return {
        table: [merge_duplicates(matches) if len(matches) > 1 else matches[0] for matches in legs.values()]
        for table, legs in found.items()
    }


def parse_table(stored: Json) -> pairing.Table:
    return pairing.Table(tuple(stored["entrants"]), stored["label"], stored["legs"])


def new_round(
    session: Session, tournament: Tournament, number: int, pairing_round: pairing.PairingRound, moment: datetime
) -> TournamentRound:
    """Return a new row for a round. The ``section`` of a table is the number of its deal group within the round."""
    groups = _deal_group_sections(session, tournament, pairing_round)
    section_of = {index: number for number, indexes in enumerate(groups) for index in indexes}
    return TournamentRound(
        tournament_id=tournament.id,
        number=number,
        label=pairing_round.label[:40],
        tables=[
            {"entrants": list(table.entrants), "label": table.label, "legs": table.legs, "section": section_of[index]}
            for index, table in enumerate(pairing_round.tables)
        ],
        byes=[{"entrant": bye.entrant, "reason": bye.reason} for bye in pairing_round.byes],
        arranged=0,
        created_at=moment,
    )


def list_open_rounds(session: Session, tournament: Tournament) -> list[RoundProgress]:
    """Return the progress of all rounds that have not ended, in order of their numbers."""
    is_open = StoredMatch.tournament_id == tournament.id, StoredMatch.status.in_(OPEN)
    counted = select(StoredMatch.tournament_round, func.count()).where(*is_open)
    open_matches = dict(session.execute(counted.group_by(StoredMatch.tournament_round)).all())
    tables = func.json_array_length(TournamentRound.tables)
    query = select(TournamentRound.number, tables, TournamentRound.arranged, TournamentRound.starts_at)
    query = query.where(TournamentRound.tournament_id == tournament.id, TournamentRound.ended_at.is_(None))
    return [
        RoundProgress(number, tables, arranged, open_matches.get(number, 0), starts_at)
        for number, tables, arranged, starts_at in session.execute(query.order_by(TournamentRound.number))
    ]


def newest_round(session: Session, tournament_id: str) -> int:
    """Return the number of the newest round, or 0 before the first."""
    newest = select(func.max(TournamentRound.number)).where(TournamentRound.tournament_id == tournament_id)
    return session.scalar(newest) or 0


def with_round(state: pairing.PairingInput, pairing_round: pairing.PairingRound) -> pairing.PairingInput:
    """Return the state with one more round, which has no results yet."""
    played = pairing.PlayedRound(pairing_round, tuple(() for _ in pairing_round.tables))
    return replace(state, played=(*state.played, played))


def _played_round(row: TournamentRound, legs: dict[tuple[int, int], list[pairing.Leg]]) -> pairing.PlayedRound:
    pairing_round = _pairing_round(row)
    counted = tuple(tuple(legs.get((row.number, number), ())) for number in range(1, len(pairing_round.tables) + 1))
    return pairing.PlayedRound(pairing_round, counted)


def _pairing_round(row: TournamentRound) -> pairing.PairingRound:
    byes = tuple(pairing.Bye(bye["entrant"], bye["reason"]) for bye in row.byes)
    return pairing.PairingRound(tuple(parse_table(table) for table in row.tables), byes, row.label)


def _deal_group_sections(
    session: Session, tournament: Tournament, pairing_round: pairing.PairingRound
) -> list[list[int]]:
    if tournament.deal_sharing != DealSharing.COMMON:
        return [[index] for index in range(len(pairing_round.tables))]
    query = select(Bot.id, Bot.owner_id).join(TournamentEntry, TournamentEntry.bot_id == Bot.id)
    owners = dict(session.execute(query.where(TournamentEntry.tournament_id == tournament.id)).all())
    tables = [table.entrants for table in pairing_round.tables]
    return sections(tables, owners, limit=max(2, MAX_GROUP_SEATS // tournament.seats))
