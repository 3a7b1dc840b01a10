"""Write the standings of a tournament as CSV."""

from typing import Final

from api.downloads.tables import csv_text
from api.tournaments import standings_cache
from api.tournaments.standings_schemas import StandingsRow
from referee.standings import TIE_BREAKS
from referee.standings.presentation import tie_break
from referee.tournaments.tables import Tournament

FIRST: Final = ("rank", "bot", "name", "owner", "owner_name", "matches", "byes", "points", "points_exact", "wins")
LAST: Final = ("draws", "losses", "returns", "withdrawn", "disqualification")


def standings_csv(tournament: Tournament) -> str:
    """Return the standings as CSV: a row for each entrant, with the tie-breaks of the format in their order."""
    kept = standings_cache.tournament_entry(tournament.id)
    ranked = standings_cache.ranked_entrants(kept)
    found = StandingsRow(many=True).dump(standings_cache.attach_error_bars(kept, tournament.id, ranked, computed=False))
    names = [name for name in TIE_BREAKS[tournament.format] if name not in FIRST]
    rows = [
        [*(row[name] for name in FIRST), *(tie_break(row, name) for name in names), *(row[name] for name in LAST)]
        for row in found
    ]
    return csv_text([*FIRST, *names, *LAST], rows)
