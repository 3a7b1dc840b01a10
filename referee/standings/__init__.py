"""Compute standings from results: tables with tie-breaks, and error bars.

All functions are pure; the order of the results does not matter.
"""

from referee.standings.crosstable import Crosstable, HeadToHead
from referee.standings.error_bars import ErrorBar, bootstrap
from referee.standings.results import MatchOutcome, points
from referee.standings.table import TIE_BREAKS, RankedEntrant, compute_standings
from referee.standings.totals import ScoredBye
from referee.standings.tournament import compute_tournament_standings, scored_byes

__all__ = [
    "TIE_BREAKS",
    "Crosstable",
    "ErrorBar",
    "HeadToHead",
    "MatchOutcome",
    "RankedEntrant",
    "ScoredBye",
    "bootstrap",
    "compute_standings",
    "compute_tournament_standings",
    "points",
    "scored_byes",
]
