"""An event's table from the record. How it is ranked is the pure standings'."""

from collections.abc import Hashable, Iterable, Mapping

from sqlalchemy.orm import Session

from referee.pairing import knockout
from referee.standings import Row, event_table
from referee.store.entrants import entrants
from referee.store.outcomes import byes, outcomes
from referee.store.schema import Tournament
from referee.store.stages import event_of


def event_standings(session: Session, tournament: Tournament, entered: Iterable[str]) -> list[Row]:
    """The standings of these entries (bots' ids, in their order), best first, by the tie-breaks of the format."""
    return event_table(
        tournament.format,
        tournament.seats,
        entered,
        outcomes(session, tournament.id),
        byes(session, tournament.id),
        given=_given(session, tournament),
    )


def _given(session: Session, tournament: Tournament) -> dict[str, Mapping[Hashable, int]]:
    """What does not follow from points. Without rating, a ladder is ranked by points per match."""
    if tournament.format == "knockout":
        places = knockout.places(event_of(session, tournament))
        return {"bracket": {entrant: place for place, entrant in places}}
    if tournament.format == "ladder" and tournament.rated:
        rated = entrants(session, tournament, today=True)
        return {"rating": {one.id: one.rating for one in rated if one.games}}
    return {}
