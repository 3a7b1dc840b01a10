"""Load the feeds of series: their finished tournaments with the winners."""

from datetime import datetime
from typing import Final

from api.views import current_session
from referee.figures import count
from referee.games import game_title
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament
from referee_extras.feeds.atom import AtomFeed, FeedEntry, PageFeed
from referee_extras.series import operations
from referee_extras.series.presentation import scoring_ranks

ENTRIES: Final = 30


def load_series_tournaments(series_id: str) -> AtomFeed:
    """Return the finished tournaments of a series, the newest first."""
    series = operations.get_series(current_session(), series_id)
    found = operations.list_tournaments(current_session(), series_id)
    finished = [
        (tournament.finished_at, tournament)
        for tournament in found
        if tournament.finished_at and tournament.status == TournamentState.FINISHED
    ]
    newest = sorted(finished, key=lambda pair: pair[0], reverse=True)[:ENTRIES]
    return AtomFeed(
        named_at=series.created_at,
        title=f"Tournaments of {series.name}",
        subtitle="The finished tournaments of this series.",
        entries=[_tournament_entry(ended, tournament) for ended, tournament in newest],
    )


def _tournament_entry(ended: datetime, tournament: Tournament) -> FeedEntry:
    scoring = scoring_ranks(tournament)
    best = min(scoring.values(), default=0)
    winners = [bot for bot, rank in scoring.items() if rank == best]
    names = sorted(bot.name for bot, _ in operations.load_bots(current_session(), winners).values())
    return FeedEntry(
        named_at=tournament.created_at,
        path=f"/tournaments/{tournament.id}",
        title=f"{tournament.name}: {' and '.join(names) or 'no winner'}",
        summary=f"{game_title(tournament.game)}, {count(len(scoring))} bots.",
        updated=ended,
        category=tournament.game,
    )


SERIES_TOURNAMENTS: Final = PageFeed(
    *("series", "series_id", "ser", "tournaments", "Finished tournaments of this series"), load_series_tournaments
)
