"""Serve the home page: introduction, matches and tournaments in progress, ladders, newest results."""

from flask import Response, current_app

from api.matches.presentation import match_views, visible_matches
from api.matches.viewer_data import viewer_data
from api.overview.cache import overview_cache
from api.overview.live_scores import attach_live_scores
from api.overview.schemas import LiveMatchView
from api.pages.page import Pages, page
from api.views import current_session
from referee.bots import bots
from referee.games import catalogue
from referee.ladders import months, ratings
from referee.ladders.ladder_rows import LadderSummary, load_summaries
from referee.ladders.tables import Ladder
from referee.matches import matches
from referee.matches.lists import results
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.states import MatchState
from referee.tournaments import progress, tournaments
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament
from referee.workflows.publishing.featured import find_finished

pages = Pages("home", __name__)

FINISHED = MatchFilter(status=MatchState.FINISHED)
MAX_OPEN = 6  # tournaments open for entries
MAX_RESULTS = 8
MAX_CHAMPIONS = 20
TOP = 5  # rows shown of each ladder
MAX_LADDERS = 50  # ladders among which the most active one of each game is chosen


@pages.view("/", renews=True)
def home() -> Response:
    session = current_session()
    chosen = overview_cache().choose(session)
    now = chosen.overview
    ended = matches.list_matches(session, FINISHED, limit=MAX_RESULTS).items
    featured = chosen.featured or find_finished(session, FINISHED, limit=MAX_RESULTS)
    live = sorted(chosen.live, key=lambda shown: shown.match.game)  # fixed places, since the page renews itself
    running = visible_matches([shown.match for shown in live])
    return page(
        "home.html",
        featured=featured and viewer_data(featured, match_views([featured])[0]),
        live=LiveMatchView(many=True).dump(attach_live_scores(running, live)),
        tournaments=now.tournaments + open_tournaments(),
        counts=now.counts,
        tops=load_top_rows(),
        champions=months.list_newest_champions(session, limit=MAX_CHAMPIONS),
        results=match_views(ended),
        scores=results.load_public_scores(session, [match.id for match in ended]),
        fresh=not now.counts["running"] and not now.counts["results"] and not bots.any_registered(session),
        url=current_app.config["SETTINGS"].public_url,
    )


def open_tournaments() -> list[tuple[Tournament, progress.Progress]]:
    """Return tournaments open for entries with their progress, newest first."""
    found = tournaments.list_tournaments(current_session(), status=TournamentState.OPEN, limit=MAX_OPEN).items
    return [(tournament, progress.load_progress(current_session(), tournament.id)) for tournament in found]


def load_top_rows() -> list[LadderSummary]:
    """Return, for each game, the first rows of the ladder with the newest ledger entry."""
    session = current_session()
    ladders = ratings.list_ladders(session, limit=MAX_LADDERS).items
    last = {ladder.id: ratings.last_seq(session, ladder.id) for ladder in ladders}
    most_active: dict[str, Ladder] = {}
    for ladder in sorted(ladders, key=lambda ladder: last[ladder.id]):
        most_active[ladder.game] = ladder
    chosen = [most_active[game] for game in catalogue() if game in most_active and last[most_active[game].id]]
    return load_summaries(session, chosen, top=TOP)
