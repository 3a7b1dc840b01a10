"""Events held up by stuck matches. Nobody decides a prize by leaving out what the machine could not play: the stage
and the event wait until the organiser makes such a match void, with or without a replay, or cancels it, or the operator
revives it."""

from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.matches.tables import Match, MatchSeat
from referee.tournaments.tables import Tournament
from referee.webhooks import outbox

NAMED: Final = 3  # stuck matches told by their ids
WAYS_OUT: Final = "make each void, with or without a replay, or cancel it; or have the operator revive it"


def reason(session: Session, tournament: Tournament) -> str | None:
    """What holds the event up, for its ``status_reason``; None when nothing does."""
    of_event = Match.tournament_id == tournament.id, Match.status == "stuck"
    named = list(session.scalars(select(Match.id).where(*of_event).order_by(Match.id).limit(NAMED + 1)))
    if not named:
        return None
    count = session.scalars(select(func.count()).where(*of_event)).one() if len(named) > NAMED else len(named)
    told = ", ".join(named[:NAMED]) + (f" and {count - NAMED} more" if count > NAMED else "")
    return f"held up by stuck matches: {told}; {WAYS_OUT}"


def tell(session: Session, tournament: Tournament) -> bool:
    """Says on the event what holds it up, or that nothing does any more; of what is new the organiser is told, and
    the owners of the bots concerned. False when that was said already."""
    before, now = tournament.status_reason, reason(session, tournament)
    if before == now:
        return False
    tournament.status_reason = now
    tournament.revision += 1
    if now is not None:
        owners = select(Bot.owner_id).join(MatchSeat, MatchSeat.bot_id == Bot.id)
        owners = owners.join(Match, Match.id == MatchSeat.match_id)
        owners = owners.where(Match.tournament_id == tournament.id, Match.status == "stuck").distinct()
        told = {"tournament": tournament.id, "name": tournament.name, "reason": now}
        outbox.emit(session, "tournament.held_up", {tournament.created_by, *session.scalars(owners)}, told)
    return True
