"""Compute and cache the standings and error bars of tournaments."""

from collections.abc import Sequence
from typing import Any, Final

from api.caching import Cache, CacheEntry
from api.extended import Extended
from api.views import database
from referee.standings import ErrorBar, RankedEntrant, bootstrap
from referee.tournaments import tournaments
from referee.tournaments.entries import EnteredBot, find_entered_bots
from referee.tournaments.standings import TournamentResults, load_tournament_results

Json = dict[str, Any]

MOST_KEPT: Final = 50_000  # results and entries; 10,000 and all values computed from them take about 25 MB
SAMPLES: Final = ((2_000, 1_000), (10_000, 400))  # up to this number of results, this number of bootstrap samples
FEWEST_SAMPLES: Final = 200  # bootstrap samples for more results

NO_BAR: Final = ErrorBar(None, None, None, 0)

TOURNAMENTS: Final = Cache[TournamentResults](MOST_KEPT, lambda made: len(made.outcomes) + len(made.entrants) + 1)


def tournament_entry(tournament_id: str) -> CacheEntry[TournamentResults]:
    """Return the results that count now.

    Raise ``NotFound`` for an unknown tournament and a draft, which has none, and ``Conflict`` for too many.
    """

    def make(before: TournamentResults | None, *, patient: bool) -> TournamentResults:
        with database().read() as session:
            tournament = tournaments.get_visible_tournament(session, tournament_id)
            return load_tournament_results(session, tournament, before, patient=patient)

    return TOURNAMENTS.get(tournament_id, make)


def ranked_entrants(kept: CacheEntry[TournamentResults]) -> list[RankedEntrant]:
    """Return the standings, best first."""
    return kept.part("table", kept.made.standings)


def row_indexes(kept: CacheEntry[TournamentResults]) -> dict[str, int]:
    """Return the index of each entrant's row in the standings, from 0, keyed by entrant."""
    return kept.part("order", lambda: {str(row.entrant): index for index, row in enumerate(ranked_entrants(kept))})


def error_bars(kept: CacheEntry[TournamentResults]) -> dict[Any, ErrorBar]:
    made = kept.made
    return kept.part(
        "bars", lambda: bootstrap(made.entrants, made.outcomes, draw_key=made.draw_key, samples=samples_of(made))
    )


def samples_of(made: TournamentResults) -> int:
    """Return the number of bootstrap samples for the error bars of these results."""
    return next((samples for results, samples in SAMPLES if len(made.outcomes) <= results), FEWEST_SAMPLES)


def load_entered_bots(tournament_id: str, bot_ids: Sequence[str]) -> dict[str, EnteredBot]:
    """Return these entered bots, keyed by bot id."""
    with database().read() as session:
        return find_entered_bots(session, tournament_id, bot_ids)


def load_names(tournament_id: str, bot_ids: Sequence[str]) -> dict[str, str]:
    """Return the names of these bots of a tournament, keyed by bot id."""
    return {bot_id: bot.name for bot_id, bot in load_entered_bots(tournament_id, bot_ids).items()}


def snapshot(kept: CacheEntry[TournamentResults]) -> Json:
    """Return the number of the last result in the standings, and the number of results."""
    return {"as_of_seq": kept.made.as_of_seq, "results": len(kept.made.outcomes)}


def attach_people(tournament_id: str, rows: Sequence[RankedEntrant]) -> list[Extended]:
    """Return rows of the standings, each with its entered bot as ``person``."""
    found = load_entered_bots(tournament_id, [str(row.entrant) for row in rows])
    return [Extended(row, person=found[str(row.entrant)]) for row in rows]


def attach_error_bars(
    kept: CacheEntry[TournamentResults], tournament_id: str, rows: Sequence[RankedEntrant], *, computed: bool = True
) -> list[Extended]:
    """Return rows of the standings with error bars. Unless ``computed``, leave the bars empty to save time."""
    bars = error_bars(kept) if computed else dict.fromkeys((row.entrant for row in rows), NO_BAR)
    return [
        Extended(
            row,
            error_bar=bars[row.entrant],
            tie_breaks=[{"name": name, "value": value} for name, value in row.tie_breaks.items()],
        )
        for row in attach_people(tournament_id, rows)
    ]
