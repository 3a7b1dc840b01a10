"""Find what made the result of a finished tournament: its deciding match and its biggest upset."""

from collections.abc import Hashable, Mapping
from datetime import timedelta
from typing import Any, Final

from api.caching import CacheEntry
from api.matches.presentation import match_views
from api.tournaments import standings_cache
from api.views import current_session
from referee.db.engine import current_time
from referee.ratings.elo import MICRO
from referee.tournaments.standings import TournamentResults
from referee.tournaments.tables import Tournament
from referee_extras.analysis import upsets
from referee_extras.analysis.turning_points import biggest_seed_upset, deciding_match

Json = dict[str, Any]

SETTLED: Final = timedelta(minutes=10)  # after the end; until then, results may be missing in the rating ledger


def load_facts(tournament: Tournament, kept: CacheEntry[TournamentResults], bracket: Json | None) -> Json:
    """Return the facts as template values. ``bracket`` is that of a knockout, in the format of the API."""
    upset = _find_upset(tournament, kept, bracket)
    return {
        "deciding": _find_deciding(tournament, kept, bracket),
        "upset": upset,
        "names": standings_cache.load_names(tournament.id, upset["bots"] if upset else []),
    }


def _find_deciding(tournament: Tournament, kept: CacheEntry[TournamentResults], bracket: Json | None) -> Json | None:
    final = bracket["rounds"][-1]["tournament_round"] if bracket else None
    table, outcomes = standings_cache.ranked_entrants(kept), kept.made.outcomes
    outcome = kept.part("deciding", lambda: deciding_match(tournament.format, table, outcomes, final))
    return None if outcome is None else match_views([upsets.find_match(current_session(), outcome.seq)])[0]


def _find_upset(tournament: Tournament, kept: CacheEntry[TournamentResults], bracket: Json | None) -> Json | None:
    """Return the biggest upset: by the ratings before the match or, in an unrated tournament, by seeds."""
    session = current_session()

    def by_rating() -> Json | None:
        upset = upsets.find_rating_upset(session, tournament.id)
        if upset is None:
            return None
        return {
            "match": upset.match_id,
            "bots": [upset.winner, upset.loser],
            "ratings": [round(upset.winner_rating / MICRO), round(upset.loser_rating / MICRO)],
        }

    def by_seed() -> Json | None:
        seeds = _seeds_of(bracket) if bracket else upsets.load_seeds(session, tournament.id)
        upset = biggest_seed_upset(seeds, kept.made.outcomes)
        if upset is None:
            return None
        outcome, *bots = upset
        match = upsets.find_match(session, outcome.seq)
        return {"match": match.id, "bots": bots, "seeds": [seeds[bot] for bot in bots]}

    if not tournament.rated:
        return kept.part("upset", by_seed)
    ended = tournament.finished_at
    is_settled = ended is not None and current_time(session) - ended > SETTLED
    return kept.part("upset", by_rating) if is_settled else by_rating()


def _seeds_of(bracket: Json) -> Mapping[Hashable, int]:
    entrants = [row for level in bracket["rounds"] for table in level["tables"] for row in table["entrants"]]
    return {row["bot"]: row["seed"] for row in entrants if row["bot"] is not None and row["seed"] is not None}
