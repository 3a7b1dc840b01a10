"""Create rematches of voided and cancelled matches, and say when a match cannot be played again."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.errors import Conflict
from referee.match.time_limits import Limits
from referee.matches.queue import queued_seats
from referee.matches.scheduling import Deal, MatchPlan, create_matches
from referee.matches.states import DealSharing, MatchState
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.pairing.kinds import TournamentFormat
from referee.tournaments.entrants import load_entrant_seats
from referee.tournaments.states import IN_PROGRESS, TournamentState
from referee.tournaments.tables import Tournament, TournamentRound

_KEPT: Final = (  # in a rematch
    *("game", "options", "created_by", "tournament_id", "tournament_round", "table_no", "leg", "ladder_id", "listed"),
)


def find_obstacle(session: Session, tournament: Tournament | None, matches: Sequence[StoredMatch]) -> str | None:
    """Return why these matches, which are to be voided, cannot be played again, as a sentence, or None."""
    if tournament is not None and tournament.status not in IN_PROGRESS:
        return f"The tournament is {tournament.status}; its matches can be voided, but not played again."
    if any(_replaces_ended_match(session, match) for match in matches if match.status == MatchState.FINISHED):
        return (
            "The match is itself the rematch of a match that was voided after its end, and a match is replaced once. "
            "Void it without a rematch."
        )
    if tournament is not None and tournament.format == TournamentFormat.KNOCKOUT:
        numbers = [match.tournament_round for match in matches if match.tournament_round is not None]
        later = select(TournamentRound.number).where(TournamentRound.tournament_id == tournament.id)
        if numbers and session.scalar(later.where(TournamentRound.number > max(numbers)).limit(1)) is not None:
            return "The next round of the bracket is paired already. Void the match without a rematch."
    return None


def _replaces_ended_match(session: Session, match: StoredMatch) -> bool:
    """Return whether the match, through any number of rematches, replaces a match that was voided after its end."""
    before = match.rematch_of
    while before is not None:
        query = select(StoredMatch.rematch_of, StoredMatch.status, Result.seq)
        query = query.outerjoin(Result, Result.match_id == StoredMatch.id).where(StoredMatch.id == before)
        before, status, result_seq = session.execute(query).one()
        if status == MatchState.VOID and result_seq is not None:
            return True
    return False


def create_rematches(
    session: Session,
    matches: Sequence[StoredMatch],
    kind: DealSharing,
    tournament: Tournament | None,
    master_key: bytes,
) -> list[str]:
    """Create rematches with fresh cards and return their ids. Several rematches share one deal group of this kind."""
    deal = Deal("rematch", kind) if len(matches) > 1 else None
    match_ids = create_matches(
        session, [_plan_rematch(session, match, tournament, deal) for match in matches], master_key=master_key
    )
    if tournament is not None:
        numbers = {match.tournament_round for match in matches}
        reopened = TournamentRound.tournament_id == tournament.id, TournamentRound.number.in_(numbers)
        session.execute(update(TournamentRound).where(*reopened).values(ended_at=None))
        if tournament.status == TournamentState.PAUSED:
            session.execute(update(StoredMatch).where(StoredMatch.id.in_(match_ids)).values(status=MatchState.WAITING))
            queued_seats.remove_from_queue(session, match_ids)
    return match_ids


def _plan_rematch(session: Session, match: StoredMatch, tournament: Tournament | None, deal: Deal | None) -> MatchPlan:
    """Return the plan of a rematch. In a tournament, seats go to the bots that play for the entrants now."""
    query = select(MatchSeat.bot_id, MatchSeat.entrant_id).where(MatchSeat.match_id == match.id)
    seats = session.execute(query.order_by(MatchSeat.seat)).all()
    entrants = [entrant or bot for bot, entrant in seats]
    return MatchPlan(
        bots=[bot for bot, _ in seats] if tournament is None else _load_players(session, tournament, entrants),
        limits=Limits(match.budget_ms, match.bank_ms),
        rated=match.rated if tournament is None else tournament.rated,  # substitutes may have made it unrated
        entrants=entrants,
        deal=deal,
        rematch_of=match.id,
        **{name: getattr(match, name) for name in _KEPT},
    )


def _load_players(session: Session, tournament: Tournament, entrants: Sequence[str]) -> list[str]:
    seats = load_entrant_seats(session, tournament, set(entrants))
    entered = {seat.bot_id: seat.current_player(tournament) for seat in seats}
    players = [entered.get(entrant, entrant) for entrant in entrants]
    if None in players:
        absent = entrants[players.index(None)]
        raise Conflict(f"No bot can play for {absent} now; the match can be voided, but not played again.")
    return [player for player in players if player is not None]
