"""Standings of an event from its results: tables with tie-breaks, crosstables, error bars, luck-adjusted scores.

Pure and exact: everything follows from the results handed in, in whatever order they come.
"""

from referee.standings.crosstable import Crosstable, Meetings, Met, crosstable, meetings
from referee.standings.error_bars import ErrorBar, bootstrap
from referee.standings.luck import Adjusted, Mean, luck_adjusted
from referee.standings.results import MatchOutcome, points
from referee.standings.table import TIE_BREAKS, RankedEntrant, table
from referee.standings.totals import ScoredBye
from referee.standings.tournament import event_table, scored_byes

__all__ = [
    "TIE_BREAKS",
    "Adjusted",
    "Crosstable",
    "ErrorBar",
    "MatchOutcome",
    "Mean",
    "Meetings",
    "Met",
    "RankedEntrant",
    "ScoredBye",
    "bootstrap",
    "crosstable",
    "event_table",
    "luck_adjusted",
    "meetings",
    "points",
    "scored_byes",
    "table",
]
