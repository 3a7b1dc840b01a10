"""Find the podium of a finished tournament."""

from typing import Any, Final

from api.tournaments import standings_cache
from referee.errors import Conflict
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament

Json = dict[str, Any]

LAST_RANK: Final = 3  # on the podium
MAX_ENTRANTS: Final = 6  # if several share a rank


def find_podium(tournament: Tournament) -> Json | None:
    """Return the podium of a finished tournament with results as template values, otherwise None."""
    if tournament.status != TournamentState.FINISHED:
        return None
    try:
        kept = standings_cache.tournament_entry(tournament.id)
    except Conflict:  # there are too many results
        return None
    if not kept.made.outcomes:
        return None
    placed = [row for row in standings_cache.ranked_entrants(kept) if row.rank <= LAST_RANK and row.matches + row.byes]
    names = standings_cache.load_names(tournament.id, [str(row.entrant) for row in placed[:MAX_ENTRANTS]])
    return {"rows": placed[:MAX_ENTRANTS], "more": len(placed[MAX_ENTRANTS:]), "names": names}
