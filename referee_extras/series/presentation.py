"""Add to a series what the API and pages show with it: organisers, tournaments, and standings from public results."""

from collections.abc import Sequence
from typing import Final

from api.caching import Cache
from api.downloads.tables import csv_text
from api.extended import Extended
from api.tournaments import standings_cache
from api.views import current_session
from referee.tournaments.standings import count_ended_rounds
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament
from referee_extras.series import operations
from referee_extras.series.schemas import dump_rows
from referee_extras.series.standings import Ranks, SeriesRow, series_standings
from referee_extras.series.tables import Series

RANKS: Final = Cache[Ranks](50_000, lambda ranks: len(ranks) + 1)  # 50,000 ranks take about 8 MB


def attach_tournaments(series: Series) -> Extended:
    """Return a series with its organisers and its tournaments."""
    return Extended(
        series,
        organisers=operations.CO_ORGANISERS.list(current_session(), series),
        tournaments=operations.list_tournaments(current_session(), series.id),
    )


def compute_standings(series: Series, tournaments: Sequence[Tournament]) -> list[SeriesRow]:
    """Return the standings of a series, best first, from those of its finished tournaments as they are now."""
    finished = [tournament for tournament in tournaments if tournament.status == TournamentState.FINISHED]
    ended = count_ended_rounds(current_session(), [tournament.id for tournament in finished])
    ranks = [(tournament.id, _known_ranks(tournament, ended.get(tournament.id, 0))) for tournament in finished]
    return series_standings(ranks, series.points, series.best)


def attach_bots(rows: Sequence[SeriesRow]) -> list[Extended]:
    """Return rows of the standings with their bots and owners' names."""
    found = operations.load_bots(current_session(), [row.bot for row in rows])
    return [Extended(row, person=found[row.bot][0], owner_name=found[row.bot][1]) for row in rows]


def standings_csv(series: Series, tournaments: Sequence[Tournament]) -> str:
    """Return the standings as CSV, with the rank and the points in each finished tournament."""
    finished = [tournament.id for tournament in tournaments if tournament.status == TournamentState.FINISHED]
    first = ("rank", "bot", "name", "owner", "owner_name", "points", "points_exact")
    headings = [*first, *(f"{id} {part}" for id in finished for part in ("rank", "points", "counts"))]
    rows = []
    for row in dump_rows(attach_bots(compute_standings(series, tournaments))):
        by_id = {result["tournament"]: result for result in row["results"]}
        results = [by_id.get(id, {"rank": "", "points_exact": "", "counts": ""}) for id in finished]
        cells = [result[part] for result in results for part in ("rank", "points_exact", "counts")]
        rows.append([*(row[name] for name in first), *cells])
    return csv_text(headings, rows)


def _known_ranks(tournament: Tournament, ended_rounds: int) -> Ranks:
    """Return ``scoring_ranks``, without a statement if they are cached.

    Entries, voids and disqualifications change the revision of a tournament; byes count once their round has ended.
    """
    key = f"{tournament.id} {tournament.revision} {ended_rounds}"
    return RANKS.get(key, lambda before, *, patient: scoring_ranks(tournament) if before is None else before).made


def scoring_ranks(tournament: Tournament) -> Ranks:
    """Return the ranks of the bots that played a match themselves and are not disqualified, keyed by bot id."""
    kept = standings_cache.tournament_entry(tournament.id)
    out = kept.made.disqualified
    rows = standings_cache.ranked_entrants(kept)
    return {str(row.entrant): row.rank for row in rows if row.matches and str(row.entrant) not in out}
