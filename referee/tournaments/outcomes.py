"""Read the finished matches and byes of a tournament, from which its standings are computed."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.matches.states import MatchState
from referee.matches.tables import Result, StoredMatch
from referee.standings import MatchOutcome
from referee.tournaments.tables import TournamentRound


def load_outcomes(
    session: Session, tournament_id: str, *, after: int = 0, newest: int | None = None
) -> list[MatchOutcome]:
    """Return the finished matches with ``seq`` above ``after``, in order of ``seq``.

    If ``newest`` is given, return at most this many of the last ones. Seats played by substitutes are not scored.
    """
    of_result = Result.entrants, Result.bots, Result.placements, Result.returns, Result.seq
    query = select(*of_result, StoredMatch.group_id, StoredMatch.tournament_round)
    query = query.join(StoredMatch, StoredMatch.id == Result.match_id)
    query = query.where(StoredMatch.tournament_id == tournament_id, StoredMatch.status == MatchState.FINISHED)
    rows = session.execute(query.where(Result.seq > after).order_by(Result.seq.desc()).limit(newest)).all()
    return [
        MatchOutcome(
            entrants=tuple(entrants),
            placements=tuple(placements),
            returns=tuple(returns),
            group=group,
            tournament_round=tournament_round,
            seq=seq,
            scored=scored_seats(entrants, bots) or None,
        )
        for entrants, bots, placements, returns, seq, group, tournament_round in reversed(rows)
    ]


def load_byes(session: Session, tournament_id: str) -> list[tuple[int, str, str]]:
    """Return (round, bot id, reason) for each bye of an ended round. Byes of running rounds would reveal pairings."""
    query = select(TournamentRound.number, TournamentRound.byes).order_by(TournamentRound.number)
    query = query.where(TournamentRound.tournament_id == tournament_id, TournamentRound.ended_at.is_not(None))
    return [(number, bye["entrant"], bye["reason"]) for number, byes in session.execute(query) for bye in byes]


def scored_seats(entrants: Sequence[str], bots: Sequence[str]) -> tuple[bool, ...]:
    """Return for each seat whether the entrant itself played and not a substitute, or () if all entrants did."""
    return () if list(entrants) == list(bots) else tuple(map(str.__eq__, entrants, bots))
