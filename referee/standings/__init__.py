"""Compute standings from results: tables with tie-breaks, and error bars.

All functions are pure; the order of the results does not matter.
"""

from referee.standings.crosstable import Crosstable as Crosstable
from referee.standings.crosstable import HeadToHead as HeadToHead
from referee.standings.error_bars import ErrorBar as ErrorBar
from referee.standings.error_bars import bootstrap as bootstrap
from referee.standings.results import MatchOutcome as MatchOutcome
from referee.standings.results import points as points
from referee.standings.table import TIE_BREAKS as TIE_BREAKS
from referee.standings.table import RankedEntrant as RankedEntrant
from referee.standings.table import compute_standings as compute_standings
from referee.standings.totals import ScoredBye as ScoredBye
from referee.standings.tournament import compute_tournament_standings as compute_tournament_standings
