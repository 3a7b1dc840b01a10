"""Load the feeds of bots, tournaments and ladders: the results that their pages list, with the same visibility."""

from collections.abc import Sequence
from typing import Any, Final

from api.fields import points
from api.matches.presentation import match_views
from api.pages.formatting import format_signed
from api.views import current_session
from referee.bots import bots
from referee.figures import count, decimal, month_name, ordinal
from referee.games import game_title
from referee.ladders import months, ratings
from referee.ladders.months import ClosedMonth
from referee.matches import matches
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from referee.tournaments import tournaments, watching
from referee.workflows.publishing import visibility
from referee_extras.feeds.atom import AtomFeed, FeedEntry, PageFeed

Json = dict[str, Any]
ENTRIES: Final = 30


def load_bot_results(bot_id: str) -> AtomFeed:
    """Return the newest results of a bot."""
    bot = bots.get_bot(current_session(), bot_id)
    counting = MatchFilter(bot_ids=[bot_id], status=MatchState.FINISHED)  # not voided
    where = visibility.has_known_seats()
    found = matches.list_matches(current_session(), counting, where=where, limit=ENTRIES).items
    return AtomFeed(
        named_at=bot.created_at,
        title=f"Results of {bot.name}",
        subtitle="The newest matches of this bot that count.",
        entries=_match_entries(found, own=bot_id),
    )


def load_tournament_results(tournament_id: str) -> AtomFeed:
    """Return the newest results of a tournament."""
    tournament = tournaments.get_visible_tournament(current_session(), tournament_id)
    found = watching.list_newest_ended(current_session(), tournament_id, limit=ENTRIES)
    return AtomFeed(
        named_at=tournament.created_at,
        title=f"Results of {tournament.name}",
        subtitle="The newest matches of this tournament that count.",
        entries=_match_entries([match for match in found if match.status == MatchState.FINISHED]),
    )


def load_ladder_months(ladder_id: str) -> AtomFeed:
    """Return the champions of the newest months of a ladder."""
    ladder = ratings.get_ladder(current_session(), ladder_id)
    found = months.list_months(current_session(), ladder_id, limit=ENTRIES).items
    return AtomFeed(
        named_at=ladder.created_at,
        title=f"Champions of {ladder.name}",
        subtitle="The final standings of each month of this ladder.",
        entries=[_month_entry(closed) for closed in found],
    )


def _match_entries(found: Sequence[StoredMatch], own: str | None = None) -> list[FeedEntry]:
    """Return an entry for each match; with ``own``, with the result of this bot in its title."""
    return [
        FeedEntry(
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


def _month_entry(closed: ClosedMonth) -> FeedEntry:
    champion, month = closed.champion, month_name(closed.month.month)
    matches_played = f"{count(closed.month.matches)} match{'' if closed.month.matches == 1 else 'es'}"
    counted = f"{count(closed.month.bots)} bot{'' if closed.month.bots == 1 else 's'} played {matches_played}."
    rating = ""
    if champion is not None:
        rating = f" Rating of the champion: {decimal(points(champion.value), 1)}."
    return FeedEntry(
        named_at=closed.ladder.created_at,
        path=f"/ladders/{closed.ladder.id}/months/{closed.name}",
        title=f"{month}: {'no champion' if champion is None else f'{champion.name} is champion'}",
        summary=counted + rating,
        updated=closed.month.closed_at,
        category=closed.ladder.game,
    )


BOT_RESULTS: Final = PageFeed("bots", "bot_id", "bot", "results", "Results of this bot", load_bot_results)
TOURNAMENT_RESULTS: Final = PageFeed(
    *("tournaments", "tournament_id", "trn", "results", "Results of this tournament"), load_tournament_results
)
LADDER_MONTHS: Final = PageFeed(
    *("ladders", "ladder_id", "lad", "months", "Monthly champions of this ladder"), load_ladder_months, "/months"
)
