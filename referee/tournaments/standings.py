"""What an event's tables are made of, from the record. How they are computed is the pure standings'."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.errors import Conflict
from referee.ladders import ratings
from referee.matches.tables import Result
from referee.pairing import knockout
from referee.standings import MatchOutcome, RankedEntrant, tournament_table
from referee.standings.tournament import RoundBye
from referee.tournaments.entrants import entrants, seats_of
from referee.tournaments.outcomes import byes, outcomes
from referee.tournaments.rounds import course_of, draw_of
from referee.tournaments.tables import Tournament, TournamentRound

MOST_RESULTS: Final = 100_000  # an event's tables are made of; of a ladder they are the newest


@dataclass(slots=True)
class EventResults:
    """All that an event's tables are made of, as of one moment.

    ``as_of_seq`` is the number of its last result (0: none); results are numbered in the order in which matches end.
    ``state`` is another whenever something besides results and ratings has changed, ``seen`` are the last result of
    any event and the ladder's last act that were looked at.
    """

    format: str
    seats: int
    entrants: tuple[str, ...]
    outcomes: list[MatchOutcome]
    byes: Sequence[RoundBye]
    given: Mapping[str, Mapping[Hashable, int]]
    draw: bytes
    state: tuple[int, int]
    seen: tuple[int, int]

    @property
    def as_of_seq(self) -> int:
        return self.outcomes[-1].seq if self.outcomes else 0

    def table(self) -> list[RankedEntrant]:
        """The standings, best first."""
        return tournament_table(self.format, self.seats, self.entrants, self.outcomes, self.byes, given=self.given)


def event_results(
    session: Session, tournament: Tournament, before: EventResults | None = None, *, patient: bool = False
) -> EventResults:
    """The results that count now. Of ``before`` only what came since is read; it is given itself when nothing did
    (``patient``: when nothing but results did). Raises ``Conflict`` for an event with more than ``MOST_RESULTS``."""
    state, seen = _state(session, tournament), _standings_version(session, tournament)
    if before is None or before.state != state:
        newest = MOST_RESULTS if tournament.format == "ladder" else MOST_RESULTS + 1
        counting = outcomes(session, tournament.id, newest=newest)
    elif patient or seen == before.seen:
        return before
    else:
        new = outcomes(session, tournament.id, after=before.seen[0])
        if not new and seen[1] == before.seen[1]:
            before.seen = seen
            return before
        counting = [*before.outcomes, *new]
    if tournament.format == "ladder":
        counting = counting[-MOST_RESULTS:]
    elif len(counting) > MOST_RESULTS:
        raise Conflict(f"the event has more than {MOST_RESULTS} results; its tables are not made here")
    return EventResults(
        format=tournament.format,
        seats=tournament.seats,
        entrants=tuple(seat.bot_id for seat in seats_of(session, tournament)),
        outcomes=counting,
        byes=byes(session, tournament.id),
        given=_external_values(session, tournament),
        draw=draw_of(tournament),
        state=state,
        seen=seen,
    )


def _state(session: Session, tournament: Tournament) -> tuple[int, int]:
    """Entries and voids raise the revision; byes count from the end of their stage on."""
    ended = select(func.count()).where(
        TournamentRound.tournament_id == tournament.id, TournamentRound.ended_at.is_not(None)
    )
    return tournament.revision, session.scalars(ended).one()


def _standings_version(session: Session, tournament: Tournament) -> tuple[int, int]:
    results = session.scalar(select(func.max(Result.seq))) or 0
    if tournament.format != "ladder" or not tournament.rated:
        return results, 0
    ladder = ratings.find_ladder(session, tournament.game, tournament.options, tournament.seats)
    return results, 0 if ladder is None else ratings.last_seq(session, ladder.id)


def _external_values(session: Session, tournament: Tournament) -> dict[str, Mapping[Hashable, int]]:
    """What does not follow from points. Without rating, a ladder is ranked by points per match."""
    if tournament.format == "knockout":
        event, _ = course_of(session, tournament)
        return {"bracket": {entrant: rank for rank, entrant in knockout.rank_entrants(event)}}
    if tournament.format == "ladder" and tournament.rated:
        rated = entrants(session, tournament, today=True)
        return {"rating": {one.id: one.rating for one in rated if one.games}}
    return {}
