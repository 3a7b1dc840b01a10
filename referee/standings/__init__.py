"""Compute standings from results: tables with tie-breaks, error bars and luck-adjusted scores.

All functions are pure; the order of the results does not matter.
"""

from referee.standings.crosstable import Crosstable, HeadToHead
from referee.standings.error_bars import ErrorBar, bootstrap
from referee.standings.luck import LuckAdjusted, Mean, SameCards, compare_same_cards, luck_adjusted
from referee.standings.results import MatchOutcome, points
from referee.standings.table import TIE_BREAKS, RankedEntrant, compute_standings
from referee.standings.totals import ScoredBye
from referee.standings.tournament import compute_tournament_standings, scored_byes

__all__ = [
    "TIE_BREAKS",
    "Crosstable",
    "ErrorBar",
    "HeadToHead",
    "LuckAdjusted",
    "MatchOutcome",
    "Mean",
    "RankedEntrant",
    "SameCards",
    "ScoredBye",
    "bootstrap",
    "compare_same_cards",
    "compute_standings",
    "compute_tournament_standings",
    "luck_adjusted",
    "points",
    "scored_byes",
]
