"""Compute statistics from the results of a tournament, which ``standings_cache`` keeps together with them."""

from collections.abc import Hashable, Mapping

from api.caching import CacheEntry
from api.tournaments.standings_cache import ranked_entrants
from referee.ratings.strengths import Fit, RankedResult
from referee.standings import HeadToHead
from referee.tournaments.standings import TournamentResults
from referee_extras.analysis.by_round import RoundScore, scores_by_round
from referee_extras.analysis.luck import LuckAdjusted, luck_adjusted
from referee_extras.analysis.meetings import crosstable
from referee_extras.analysis.strengths import MOST_FITTED, fit_strengths, too_large


def results_by_opponent(kept: CacheEntry[TournamentResults]) -> Mapping[Hashable, Mapping[Hashable, HeadToHead]]:
    """Return results keyed by entrant, in the order of the standings, and then by opponent."""
    made = kept.made
    return kept.part("crosstable", lambda: crosstable([row.entrant for row in ranked_entrants(kept)], made.outcomes))


def round_scores(kept: CacheEntry[TournamentResults]) -> Mapping[Hashable, Mapping[int, RoundScore]]:
    """Return the results of a Swiss tournament, keyed by entrant and by number of the round."""
    made = kept.made
    return kept.part("rounds", lambda: scores_by_round(made.seats, made.entrants, made.outcomes, made.byes))


def luck_adjusted_scores(kept: CacheEntry[TournamentResults]) -> Mapping[Hashable, LuckAdjusted | None]:
    """Return luck-adjusted scores keyed by entrant. A score is None if nobody else had the same cards."""
    made = kept.made
    return kept.part("luck", lambda: luck_adjusted(made.entrants, made.outcomes))


def tournament_fit(kept: CacheEntry[TournamentResults]) -> Fit:
    """Return the strengths of a tournament's bots. Raise a 409 ``too_large`` for too many results or bots."""
    made = kept.made
    if len(made.outcomes) > MOST_FITTED:
        raise too_large(f"{len(made.outcomes):,} results")
    results = [
        RankedResult([str(entrant) for entrant in outcome.entrants], outcome.placements, outcome.scored)
        for outcome in made.outcomes
    ]
    return kept.part("fit", lambda: fit_strengths(results))
