"""Serve Atom feeds of the results that pages list, with the same visibility, and name them in these pages."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from flask import Flask, Response, current_app, request

from api.feeds.atom import MEDIA_TYPE, AtomFeed, FeedEntry, write_feed
from api.fields import points
from api.matches.presentation import match_views
from api.pages.formatting import format_signed
from api.pages.page import Pages
from api.series.presentation import scoring_ranks
from api.views import current_session
from referee.bots import bots
from referee.figures import count, decimal, month_name, ordinal
from referee.games import game_title
from referee.ladders import months, ratings
from referee.ladders.months import ClosedMonth
from referee.matches import matches
from referee.matches.match_filters import MatchFilter
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from referee.series import series as store
from referee.tournaments import tournaments, watching
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament
from referee.workflows import visibility

pages = Pages("feeds", __name__)

Json = dict[str, Any]
ENTRIES: Final = 30
CACHED: Final = "public, max-age=300"
FEEDS: Final = {  # folder and name of a feed, and its title, by the argument of a page's view
    "tournament_id": ("tournaments", "results", "Results of this tournament"),
    "series_id": ("series", "tournaments", "Finished tournaments of this series"),
    "ladder_id": ("ladders", "months", "Monthly champions of this ladder"),
    "bot_id": ("bots", "results", "Results of this bot"),
}


def install(app: Flask) -> None:
    """Let the templates name the feed of the page that is shown."""
    app.jinja_env.globals["feed_of_page"] = feed_of_page


def feed_of_page() -> tuple[str, str] | None:
    """Return the public URL and the title of the feed of this page, or None if it has none."""
    arguments: Json = request.view_args or {}
    for name, (folder, feed, title) in FEEDS.items():
        if name in arguments:
            return f"{current_app.config['SETTINGS'].public_url}/{folder}/{arguments[name]}/{feed}.atom", title
    return None


@pages.view('/bots/<id("bot"):bot_id>/results.atom')
def bot_results(bot_id: str) -> Response:
    """Send the newest results of a bot."""
    bot = bots.get_bot(current_session(), bot_id)
    counting = MatchFilter(bot_ids=[bot_id], status=MatchState.FINISHED)  # not voided
    where = visibility.has_known_seats()
    found = matches.list_matches(current_session(), counting, where=where, limit=ENTRIES).items
    return _send(
        AtomFeed(
            key=f"bots/{bot_id}/results",
            named_at=bot.created_at,
            path=f"/bots/{bot_id}/results.atom",
            page=f"/bots/{bot_id}",
            title=f"Results of {bot.name}",
            subtitle="The newest matches of this bot that count.",
            entries=_match_entries(found, own=bot_id),
        )
    )


@pages.view('/tournaments/<id("trn"):tournament_id>/results.atom')
def tournament_results(tournament_id: str) -> Response:
    """Send the newest results of a tournament."""
    tournament = tournaments.get_visible_tournament(current_session(), tournament_id)
    found = watching.list_newest_ended(current_session(), tournament_id, limit=ENTRIES)
    return _send(
        AtomFeed(
            key=f"tournaments/{tournament_id}/results",
            named_at=tournament.created_at,
            path=f"/tournaments/{tournament_id}/results.atom",
            page=f"/tournaments/{tournament_id}",
            title=f"Results of {tournament.name}",
            subtitle="The newest matches of this tournament that count.",
            entries=_match_entries([match for match in found if match.status == MatchState.FINISHED]),
        )
    )


@pages.view('/series/<id("ser"):series_id>/tournaments.atom')
def series_tournaments(series_id: str) -> Response:
    """Send the finished tournaments of a series, the newest first."""
    series = store.get_series(current_session(), series_id)
    found = store.list_tournaments(current_session(), series_id)
    finished = [
        (tournament.finished_at, tournament)
        for tournament in found
        if tournament.finished_at and tournament.status == TournamentState.FINISHED
    ]
    newest = sorted(finished, key=lambda pair: pair[0], reverse=True)[:ENTRIES]
    return _send(
        AtomFeed(
            key=f"series/{series_id}/tournaments",
            named_at=series.created_at,
            path=f"/series/{series_id}/tournaments.atom",
            page=f"/series/{series_id}",
            title=f"Tournaments of {series.name}",
            subtitle="The finished tournaments of this series.",
            entries=[_tournament_entry(ended, tournament) for ended, tournament in newest],
        )
    )


@pages.view('/ladders/<id("lad"):ladder_id>/months.atom')
def ladder_months(ladder_id: str) -> Response:
    """Send the champions of the newest months of a ladder."""
    ladder = ratings.get_ladder(current_session(), ladder_id)
    found = months.list_months(current_session(), ladder_id, limit=ENTRIES).items
    return _send(
        AtomFeed(
            key=f"ladders/{ladder_id}/months",
            named_at=ladder.created_at,
            path=f"/ladders/{ladder_id}/months.atom",
            page=f"/ladders/{ladder_id}/months",
            title=f"Champions of {ladder.name}",
            subtitle="The final standings of each month of this ladder.",
            entries=[_month_entry(closed) for closed in found],
        )
    )


def _send(feed: AtomFeed) -> Response:
    response = Response(
        write_feed(feed, current_app.config["SETTINGS"].public_url), content_type=f"{MEDIA_TYPE}; charset=utf-8"
    )
    response.headers["Cache-Control"] = CACHED
    return response


def _match_entries(found: Sequence[StoredMatch], own: str | None = None) -> list[FeedEntry]:
    """Return an entry for each match; with ``own``, with the result of this bot in its title."""
    return [
        FeedEntry(
            key=f"matches/{match.id}",
            named_at=match.created_at,
            path=f"/matches/{match.id}",
            title=_title(view, own),
            summary=", ".join(_describe_seat(seat) for seat in _sort_seats(view)) + ".",
            updated=match.finished_at or match.created_at,
            category=match.game,
        )
        for match, view in zip(found, match_views(found), strict=True)
    ]


def _title(view: Json, own: str | None) -> str:
    game, seats = game_title(view["game"]), _sort_seats(view)
    if own is None:
        best = [_name(seat) for seat in seats if seat["placement"] == 1]
        won = f"{best[0]} wins" if len(best) == 1 else f"{' and '.join(best)} share first place"
        return f"{won} at {game}, round {view['tournament_round']}"
    placement = next(seat["placement"] for seat in seats if seat["bot"] == own)
    rivals = ", ".join(_name(seat) for seat in seats if seat["bot"] != own)
    return f"{ordinal(placement)} of {len(seats)} at {game}" + (f" against {rivals}" if rivals else "")


def _describe_seat(seat: Json) -> str:
    change = "" if seat["rating"] is None else f" ({format_signed(seat['rating']['change'], 1)})"
    return f"{ordinal(seat['placement'])} {_name(seat)}{change}"


def _sort_seats(view: Json) -> list[Json]:
    return sorted(view["seats"], key=lambda seat: (seat["placement"], seat["seat"]))


def _name(seat: Json) -> str:
    return seat["name"] or f"seat {seat['seat'] + 1}"


def _tournament_entry(ended: datetime, tournament: Tournament) -> FeedEntry:
    scoring = scoring_ranks(tournament)
    best = min(scoring.values(), default=0)
    winners = [bot for bot, rank in scoring.items() if rank == best]
    names = sorted(bot.name for bot, _ in store.load_bots(current_session(), winners).values())
    return FeedEntry(
        key=f"tournaments/{tournament.id}/end",
        named_at=tournament.created_at,
        path=f"/tournaments/{tournament.id}",
        title=f"{tournament.name}: {' and '.join(names) or 'no winner'}",
        summary=f"{game_title(tournament.game)}, {count(len(scoring))} bots.",
        updated=ended,
        category=tournament.game,
    )


def _month_entry(closed: ClosedMonth) -> FeedEntry:
    champion, month = closed.champion, month_name(closed.month.month)
    matches_played = f"{count(closed.month.matches)} match{'' if closed.month.matches == 1 else 'es'}"
    counted = f"{count(closed.month.bots)} bot{'' if closed.month.bots == 1 else 's'} played {matches_played}."
    rating = ""
    if champion is not None:
        rating = f" Rating of the champion: {decimal(points(champion.value), 1)}."
    return FeedEntry(
        key=f"ladders/{closed.ladder.id}/months/{closed.name}",
        named_at=closed.ladder.created_at,
        path=f"/ladders/{closed.ladder.id}/months/{closed.name}",
        title=f"{month}: {'no champion' if champion is None else f'{champion.name} is champion'}",
        summary=counted + rating,
        updated=closed.month.closed_at,
        category=closed.ladder.game,
    )
