"""Load an overview of the service in a few fast queries: running matches, tournaments and counts."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.matches.states import PLAYABLE, MatchState
from referee.matches.tables import StoredMatch
from referee.tournaments import watching
from referee.tournaments.progress import Progress, load_progress
from referee.tournaments.states import IN_PROGRESS, TournamentState
from referee.tournaments.tables import Tournament

CANDIDATES: Final = 2  # running matches of each game of which one may be shown
MAX_MATCHES: Final = 10
MAX_TOURNAMENTS: Final = 12


@dataclass(frozen=True, slots=True)
class Overview:
    """Hold a few running matches of each game (oldest first), tournaments in progress (newest first) and counts.

    ``counts`` has the numbers of ``running`` matches, of ``waiting`` matches, of ``results``, of running
    ``tournaments``, and of tournaments ``open`` for entries.
    """

    matches: list[StoredMatch]
    tournaments: list[tuple[Tournament, Progress]]
    counts: dict[str, int]


def load_overview(session: Session) -> Overview:
    """Load the overview, with the ``CANDIDATES`` oldest running matches of each game."""
    oldest = (StoredMatch.created_at, StoredMatch.id)
    place = func.row_number().over(partition_by=StoredMatch.game, order_by=oldest)
    is_shown = StoredMatch.status == MatchState.RUNNING, StoredMatch.listed
    of_games = select(StoredMatch.id, place.label("place")).where(*is_shown).subquery()
    chosen = select(StoredMatch).join(of_games, of_games.c.id == StoredMatch.id).where(of_games.c.place <= CANDIDATES)
    running = list(session.scalars(chosen.order_by(*oldest).limit(MAX_MATCHES)))
    tournaments = select(Tournament).where(Tournament.status.in_(IN_PROGRESS), Tournament.listed)
    tournaments = tournaments.order_by(Tournament.created_at.desc(), Tournament.id).limit(MAX_TOURNAMENTS)
    with_progress = [(tournament, load_progress(session, tournament.id)) for tournament in session.scalars(tournaments)]
    return Overview(running, with_progress, _counts(session))


def _counts(session: Session) -> dict[str, int]:
    """Return the numbers of matches, results and tournaments that the overview shows.

    The number of results is the sequence number of the last one, because counting all results would be slow.
    """
    match_states = select(StoredMatch.status, func.count()).where(StoredMatch.status.in_(PLAYABLE))
    counted = TournamentState.RUNNING, TournamentState.OPEN
    tournament_states = select(Tournament.status, func.count()).where(Tournament.status.in_(counted))
    matches = dict(session.execute(match_states.group_by(StoredMatch.status)).all())
    tournaments = dict(session.execute(tournament_states.group_by(Tournament.status)).all())
    return {
        "running": matches.get(MatchState.RUNNING, 0),
        "waiting": matches.get(MatchState.DUE, 0) + matches.get(MatchState.WAITING, 0),
        "results": watching.last_seq(session),
        "tournaments": tournaments.get(TournamentState.RUNNING, 0),
        "open": tournaments.get(TournamentState.OPEN, 0),
    }
