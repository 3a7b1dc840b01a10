"""What an event's standings are made of: its finished matches and its byes."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.standings import Outcome
from referee.store.schema import Match, Result, Stage


def outcomes(session: Session, tournament_id: str) -> list[Outcome]:
    """Every finished match in the order of the results. What a stand-in played is not scored."""
    columns = (Result.entrants, Result.bots, Result.placements, Result.returns, Match.group_id, Match.stage, Result.seq)
    query = select(*columns).join(Match, Match.id == Result.match_id)
    query = query.where(Match.tournament_id == tournament_id, Match.status == "finished").order_by(Result.seq)
    return [
        Outcome(
            entrants=tuple(entrants),
            placements=tuple(placements),
            returns=tuple(returns),
            group=group,
            stage=stage,
            seq=seq,
            scored=None if entrants == bots else tuple(map(str.__eq__, entrants, bots)),
        )
        for entrants, bots, placements, returns, group, stage, seq in session.execute(query)
    ]


def byes(session: Session, tournament_id: str) -> list[tuple[int, str, str]]:
    """(stage, bot, reason) of every bye, in the order of the stages."""
    query = select(Stage.number, Stage.byes).where(Stage.tournament_id == tournament_id).order_by(Stage.number)
    return [(number, bye["entrant"], bye["reason"]) for number, byes in session.execute(query) for bye in byes]
