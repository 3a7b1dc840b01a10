"""Load the data from which the standings of a tournament are computed. ``referee.standings`` computes them."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from referee.errors import Conflict
from referee.matches.tables import Result
from referee.pairing import knockout
from referee.pairing.kinds import TournamentFormat
from referee.standings import MatchOutcome, RankedEntrant, compute_tournament_standings
from referee.standings.table import rank_last
from referee.standings.tournament import RoundBye
from referee.tournaments.entrants import load_entrant_seats
from referee.tournaments.outcomes import load_byes, load_outcomes
from referee.tournaments.rounds import get_draw_key, load_state_and_open_round
from referee.tournaments.states import Preflight
from referee.tournaments.tables import Tournament, TournamentEntry, TournamentRound

MAX_RESULTS: Final = 100_000  # with more, there are no standings


@dataclass(slots=True)
class TournamentResults:
    """Hold all data from which the standings of a tournament are computed, read in one snapshot.

    ``as_of_seq`` is the ``seq`` of the last result, or 0 if there is none; results are numbered in the order in which
    matches end. ``state`` changes whenever anything other than results changes. ``seen_seq`` is the ``seq`` of the last
    result of all tournaments at the time of reading.
    """

    format: TournamentFormat
    seats: int
    entrants: tuple[str, ...]
    outcomes: list[MatchOutcome]
    byes: Sequence[RoundBye]
    given: Mapping[str, Mapping[Hashable, int]]
    disqualified: frozenset[str]  # entrants that are ranked after all others
    never_played: frozenset[str]  # absent entrants, whose byes count nothing until they have played a match
    draw_key: bytes
    state: tuple[int, int]
    seen_seq: int

    @property
    def as_of_seq(self) -> int:
        return self.outcomes[-1].seq if self.outcomes else 0

    def standings(self) -> list[RankedEntrant]:
        """Return the standings, best first."""
        absent = self.never_played - _players(self.outcomes, self.never_played)
        byes = [bye for bye in self.byes if bye[1] not in absent]
        found = compute_tournament_standings(
            self.format, self.seats, self.entrants, self.outcomes, byes, given=self.given
        )
        return rank_last(found, self.disqualified) if self.disqualified else found


def load_tournament_results(
    session: Session, tournament: Tournament, before: TournamentResults | None = None, *, patient: bool = False
) -> TournamentResults:
    """Return the results that count now. Reuse those in ``before`` and read only newer ones.

    Return ``before`` itself if nothing has changed or, with ``patient``, if only results were added. Raise ``Conflict``
    if the tournament has more than ``MAX_RESULTS`` results.
    """
    # The revision changes with entries and voids, and the byes of ended rounds count.
    state = tournament.revision, count_ended_rounds(session, [tournament.id]).get(tournament.id, 0)
    seen_seq = session.scalar(select(func.max(Result.seq))) or 0
    if before is None or before.state != state:
        counting = load_outcomes(session, tournament.id, newest=MAX_RESULTS + 1)
    elif patient or seen_seq == before.seen_seq:
        return before
    else:
        new = load_outcomes(session, tournament.id, after=before.seen_seq)
        if not new:
            before.seen_seq = seen_seq
            return before
        counting = [*before.outcomes, *new]
    if len(counting) > MAX_RESULTS:
        raise Conflict(f"The tournament has more than {MAX_RESULTS} results, which is too many for standings.")
    return TournamentResults(
        format=tournament.format,
        seats=tournament.seats,
        entrants=tuple(seat.bot_id for seat in load_entrant_seats(session, tournament)),
        outcomes=counting,
        byes=load_byes(session, tournament.id),
        given=_external_values(session, tournament),
        disqualified=frozenset(_entrants_where(session, tournament, TournamentEntry.disqualified_at.is_not(None))),
        never_played=frozenset(_entrants_where(session, tournament, TournamentEntry.preflight == Preflight.ABSENT)),
        draw_key=get_draw_key(tournament),
        state=state,
        seen_seq=seen_seq,
    )


def count_ended_rounds(session: Session, tournament_ids: Sequence[str]) -> dict[str, int]:
    """Return the number of ended rounds, keyed by tournament id. Omit tournaments without one."""
    ended = select(TournamentRound.tournament_id, func.count()).group_by(TournamentRound.tournament_id)
    ended = ended.where(TournamentRound.tournament_id.in_(tournament_ids), TournamentRound.ended_at.is_not(None))
    return dict(session.execute(ended).all())


def _entrants_where(session: Session, tournament: Tournament, condition: ColumnElement[bool]) -> Sequence[str]:
    query = select(TournamentEntry.bot_id).where(TournamentEntry.tournament_id == tournament.id, condition)
    return session.scalars(query).all()


def _players(outcomes: Sequence[MatchOutcome], entrants: Collection[str]) -> set[Hashable]:
    """Return which of these entrants played a match themselves."""
    if not entrants:
        return set()
    return {outcome.entrants[seat] for outcome in outcomes for seat in outcome.seats_of(entrants)}


def _external_values(session: Session, tournament: Tournament) -> dict[str, Mapping[Hashable, int]]:
    """Return the ranks of a knockout. In other formats, ranks follow from points."""
    if tournament.format == TournamentFormat.KNOCKOUT:
        state, _ = load_state_and_open_round(session, tournament)
        return {"bracket": {entrant: rank for rank, entrant in knockout.rank_entrants(state)}}
    return {}
