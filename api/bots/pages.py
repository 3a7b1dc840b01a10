"""Serve the pages of a bot: registration, ranks, rating histories, results by opponent, and fault reports.

The pages contain only public data. Their scripts read the owner's data from the API with the owner's token.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from flask import Response, current_app, request
from markupsafe import Markup

from api.bots.presentation import attach_fitting_games
from api.errors import invalid
from api.fields import MAX_INT
from api.matches.presentation import match_views
from api.pages.charts.bars import StackPart, stacked_bar
from api.pages.charts.curves import RatingStep, rating_history
from api.pages.page import Pages, page
from api.queries import query_parameters
from api.views import current_session
from referee.bots import bots, certificates
from referee.bots.tables import Bot
from referee.db import former_names
from referee.db.paging import MAX_PAGE_SIZE
from referee.friendlies import rules
from referee.ladders import directory, ladder_rows, members, months, ratings
from referee.ladders.ratings import DescribedChange
from referee.ladders.tables import Ladder
from referee.matches import matches
from referee.matches.deals.ended_openings import OpeningFilter, count_ended_openings
from referee.matches.lists import bot_stats
from referee.matches.lists.bot_stats import BotTotals
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.lists.results import load_public_scores
from referee.protocol.fault_advice import ADVICE, HANDSHAKE_ADVICE
from referee.ratings.elo import MICRO
from referee.settings import Settings
from referee.workflows.publishing import visibility

pages = Pages("bots", __name__)

LADDERS: Final = 50  # most ladders on which the rank of the bot is shown
HISTORIES: Final = 3  # plotted on one page; ``?ladder=`` selects any other
TITLES: Final = 24  # months of which the bot was champion
STEPS: Final = MAX_PAGE_SIZE  # rating changes in a history
RIVALS: Final = 20
RECENT: Final = 10
OWN_ADVICE: Final = {  # advice by code, for codes that occur only in handshakes
    **HANDSHAKE_ADVICE,
    "no_known_game": "Name at least one game of this service in the manifest.",
    "referee_failed": "The service failed; this is not your fault. Check the bot again.",
}


@pages.view('/bots/<id("bot"):bot_id>', "game", "ladder")
def bot(bot_id: str) -> Response:
    found = bots.get_bot(current_session(), bot_id)
    (listing,) = directory.load_listings(current_session(), [found])
    ranks = ladder_rows.load_ranks(current_session(), bot_id)
    ladders = [rank.ladder for rank in ranks]
    certificate = certificates.current_certificate(current_session(), found)
    return page(
        "bots/bot.html",
        bot=found,
        owner_name=listing.owner_name,
        certified=listing.certified,
        former_names=former_names.list_former_names(current_session(), bot_id),
        friendly_rules=rules.SENTENCES[rules.get_challengers(current_session(), bot_id)],
        play=members.get_player(current_session(), bot_id).play,
        memberships=members.list_memberships(current_session(), bot_id),
        ranks=ranks[:LADDERS],
        titles=months.list_titles(current_session(), bot_id, limit=TITLES),
        hidden_ladders=max(0, len(ranks) - LADDERS),
        histories=[history(ladder, found) for ladder in _ladders_to_plot(ladders)],
        more_histories=len(ranks) > HISTORIES and "ladder" not in request.args,
        results=results(found),
        **recent(bot_id),
        certificate=None if certificate is None else attach_fitting_games(found, certificate),
        no_certificate=certificates.explain_no_certificate(current_session(), found) if certificate is None else "",
        known={"bot": found.id, "name": found.name, "games": found.games, "advice": advice()},
        ended_openings=count_ended_openings(current_session(), OpeningFilter(bot_id=found.id)),
        rated=ladders,
    )


@pages.view(f'/bots/<id("bot"):bot_id>/faults/<int(max={MAX_INT}):fault_id>')
def evidence(bot_id: str, fault_id: int) -> Response:
    """Show the page of a fault report, without the report: the page's script reads it from the API."""
    found = bots.get_bot(current_session(), bot_id)
    happened = {code: known.happened for code, known in ADVICE.items()}
    known = {"bot": found.id, "fault": fault_id, "happened": happened}
    return page("bots/evidence.html", bot=found, fault_id=fault_id, known=known)


@pages.get("/register")
@query_parameters("bot")
def register() -> Response:
    """Show the page for registering, checking and practising with a bot. Its script calls the API."""
    settings: Settings = current_app.config["SETTINGS"]
    return page(
        "register/form.html",
        known={"advice": advice(), "selfService": settings.self_service},
        self_service=settings.self_service,
        plain_http=settings.allow_http or bool(settings.private_bots),
        private=bool(settings.egress_allow),
        private_bots=settings.private_bots.split(",") if settings.private_bots else [],
        url=settings.public_url,
    )


def advice() -> dict[str, str]:
    """Return the advice about each fault, keyed by the code of the fault."""
    return {code: known.remedy for code, known in ADVICE.items()} | OWN_ADVICE


def history(ladder: Ladder, bot: Bot) -> dict[str, Any]:
    """Return the last ``STEPS`` changes of the bot's rating on this ladder, with their chart, and if there are more."""
    changes = ratings.list_changes(current_session(), ladder.id, bot.id, limit=STEPS)
    steps = [_rating_step(change) for change in reversed(changes.items)]
    drawing = rating_history(steps, f"Rating of {bot.name}")
    return {"ladder": ladder, "drawing": drawing, "changes": changes.items, "more": changes.next is not None}


def results(of: Bot) -> dict[str, Any] | None:
    """Return the bot's last results in the game of ``?game=``, by default in the one that it has played most.

    Return None if the bot has not played. Raise a 422 for a game that it has not played.
    """
    played = bot_stats.load_last_results(current_session(), of.id)
    if not played:
        return None
    numbers = Counter(match.game for match in played)
    game = request.args.get("game") or max(numbers, key=lambda name: numbers[name])
    if game not in numbers:
        raise invalid([("game", f"Must be one of the games that the bot has played: {', '.join(sorted(numbers))}.")])
    counted = [match for match in played if match.game == game]
    by_rival = list(bot_stats.by_rival(counted).items())
    names = bots.names_of(current_session(), [rival for rival, _ in by_rival[:RIVALS]])
    rivals = [
        {"bot_id": rival, "name": names[rival], "totals": totals, "drawing": draw_shares(totals)}
        for rival, totals in by_rival[:RIVALS]
    ]
    return {
        "games": sorted(numbers),
        "game": game,
        "matches": len(counted),
        "rivals": rivals,
        "others": len(by_rival) - len(rivals),  # opponents that are not listed
        "seats": [(number, seat, totals) for (number, seat), totals in bot_stats.by_seat(counted).items()],
        "versions": list(bot_stats.by_version(counted).items()),
    }


def draw_shares(totals: BotTotals) -> Markup:
    """Return a bar that shows how often the bot was placed ahead of the opponent, level with it and behind it."""
    counts = {"ahead": totals.ahead, "level": totals.level, "behind": totals.behind}
    parts = [StackPart(f"{name}: {count}", count, name) for name, count in counts.items()]
    return stacked_bar(parts, ", ".join(f"{count} {name}" for name, count in counts.items()))


def recent(*bot_ids: str) -> dict[str, Any]:
    """Return the last matches of these bots for a page, except those whose players may not be named yet."""
    wanted = MatchFilter(bot_ids=bot_ids)
    found = matches.list_matches(current_session(), wanted, where=visibility.has_known_seats(), limit=RECENT).items
    scores = load_public_scores(current_session(), [match.id for match in found])
    return {"recent": match_views(found), "scores": scores}


def _ladders_to_plot(ladders: Sequence[Ladder]) -> Sequence[Ladder]:
    """Return only the ladder of ``?ladder=``, or by default the first ``HISTORIES``. Raise a 422 for an unknown one."""
    wanted = request.args.get("ladder")
    if wanted is None:
        return ladders[:HISTORIES]
    chosen = [ladder for ladder in ladders if ladder.id == wanted]
    if not chosen:
        raise invalid([("ladder", "Must be the id of a ladder on which the bot is rated.")])
    return chosen


def _rating_step(change: DescribedChange) -> RatingStep:
    label = f"{change.kind}: {change.reason}" if change.reason else change.kind
    version = (change.version or "none") if change.version_changed else None
    return RatingStep(change.before / MICRO, change.after / MICRO, change.kind, version, label)
