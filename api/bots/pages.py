"""A bot's page: where it stands, how it came there, against whom; and the evidence of its faults, for its owner alone.

What the API keeps for the owner is not read here: the page's script asks for it with the owner's token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, Response, request
from markupsafe import Markup

from api.bots.register_page import OWN_ADVICE
from api.errors import invalid
from api.fields import MAX_INT
from api.ladders.schemas import points
from api.pages.charts import Part, RatingStep, rating_history, stacked_bar
from api.pages.page import page, page_view
from api.presentation import certificate_of, match_views
from api.queries import takes
from api.views import record
from referee.bots import bots, certificates
from referee.bots.tables import Bot
from referee.db.paging import LARGEST_PAGE
from referee.ladders import ranks, ratings
from referee.ladders.ranks import LadderRank
from referee.ladders.ratings import DescribedChange
from referee.ladders.tables import Ladder
from referee.matches import bot_stats, matches
from referee.matches.bot_stats import BotTotals
from referee.protocol.fault_advice import ADVICE
from referee.ratings.elo import MICRO
from referee.workflows import visibility

pages = Blueprint("bots", __name__)

LADDERS: Final = 50  # on which a bot's place is shown
HISTORIES: Final = 3  # drawn at once; any other ladder's by itself
STEPS: Final = 200  # of a history
RIVALS: Final = 20
RECENT: Final = 10


@dataclass(frozen=True, slots=True)
class History:
    """How a rating moved lately: drawn, and its changes, the latest first. ``more`` came before them."""

    ladder: Ladder
    drawn: Markup
    changes: Sequence[DescribedChange]
    more: bool


@dataclass(frozen=True, slots=True)
class Rival:
    """Another bot and how this one did against it."""

    bot_id: str
    name: str
    tally: BotTotals
    drawn: Markup


@dataclass(frozen=True, slots=True)
class Results:
    """What a bot did at one game in its last matches."""

    games: Sequence[str]
    game: str
    matches: int
    rivals: Sequence[Rival]
    others: int  # rivals that are not listed
    seats: Sequence[tuple[int, int, BotTotals]]  # how many sat, the seat
    versions: Sequence[tuple[str | None, BotTotals]]


@pages.get('/bots/<id("bot"):bot_id>')
@takes("game", "ladder")
@page_view
def bot(bot_id: str) -> Response:
    found = bots.get_bot(record(), bot_id)
    rated = sorted(ratings.ratings_of(record(), bot_id), key=lambda pair: -pair[1].games)
    standing = [(ladder, find_rank(ladder.id, bot_id)) for ladder, _ in rated[:LADDERS]]
    certificate = certificates.present(record(), found)
    return page(
        "bots/bot.html",
        bot=found,
        standing=standing,
        hidden_ladders=len(rated) - len(standing),
        histories=[history(ladder, found) for ladder in _ladders_to_plot([ladder for ladder, _ in rated])],
        undrawn=len(rated) > HISTORIES and "ladder" not in request.args,
        results=results(found),
        recent=recent(found),
        certificate=None if certificate is None else certificate_of(found, certificate),
        no_certificate=certificates.why_none(record(), found) if certificate is None else "",
        known={"bot": found.id, "name": found.name, "advice": advice()},
        points=points,
    )


@pages.get(f'/bots/<id("bot"):bot_id>/faults/<int(max={MAX_INT}):fault_id>')
@page_view
def evidence(bot_id: str, fault_id: int) -> Response:
    """The frame of the evidence; the script asks for what is in it."""
    found = bots.get_bot(record(), bot_id)
    happened = {code: known.happened for code, known in ADVICE.items()}
    known = {"bot": found.id, "fault": fault_id, "happened": happened}
    return page("bots/evidence.html", bot=found, fault_id=fault_id, known=known)


def advice() -> dict[str, str]:
    """What to do about what a check or a match found, by code."""
    return {code: known.remedy for code, known in ADVICE.items()} | OWN_ADVICE


def find_rank(ladder_id: str, bot_id: str) -> LadderRank:
    found = ranks.place_of(record(), ladder_id, bot_id)
    assert found is not None, "a rating with games has a place"
    return found


def history(ladder: Ladder, of: Bot) -> History:
    """The last steps of a rating, read in as many pages as they take."""
    changes: list[DescribedChange] = []
    cursor: Sequence[Any] | None = None
    while len(changes) < STEPS:
        read = ratings.history(record(), ladder.id, of.id, limit=min(LARGEST_PAGE, STEPS - len(changes)), cursor=cursor)
        changes += read.items
        cursor = read.next
        if cursor is None:
            break
    moves = [_move(change) for change in reversed(changes)]
    return History(ladder, rating_history(moves, f"Rating of {of.name}"), changes, cursor is not None)


def results(of: Bot) -> Results | None:
    """By its last matches: at the game that ``?game=`` names, else at the one it plays most; None where it has none."""
    played = bot_stats.last_played(record(), of.id)
    numbers: dict[str, int] = {}
    for one in played:
        numbers[one.game] = numbers.get(one.game, 0) + 1
    if not played:
        return None
    game = request.args.get("game") or max(numbers, key=lambda name: numbers[name])
    if game not in numbers:
        raise invalid([("game", f"one of {', '.join(sorted(numbers))}")])
    there = [one for one in played if one.game == game]
    tallies = bot_stats.by_rival(there)
    names = bots.names_of(record(), list(tallies)[:RIVALS])
    rivals = [Rival(rival, names[rival], tally, shares(tally)) for rival, tally in list(tallies.items())[:RIVALS]]
    seats = [(number, seat, tally) for (number, seat), tally in bot_stats.by_seat(there).items()]
    versions = list(bot_stats.by_version(there).items())
    return Results(sorted(numbers), game, len(there), rivals, len(tallies) - len(rivals), seats, versions)


def shares(tally: BotTotals) -> Markup:
    """How often it was placed ahead of the rival, level, behind."""
    parts = [
        Part(f"ahead: {tally.ahead}", tally.ahead, "ahead"),
        Part(f"level: {tally.level}", tally.level, "level"),
        Part(f"behind: {tally.behind}", tally.behind, "behind"),
    ]
    return stacked_bar(parts, f"{tally.ahead} ahead, {tally.level} level, {tally.behind} behind")


def recent(of: Bot) -> list[dict[str, Any]]:
    """Its last matches, as far as everybody may know that it plays them."""
    found = matches.list_matches(record(), bot_id=of.id, where=visibility.has_known_seats(), limit=RECENT)
    shown = match_views(found.items)
    for match in shown:
        match["own"] = next(seat for seat in match["seats"] if seat["bot"] == of.id)
        match["rivals"] = [seat for seat in match["seats"] if seat["bot"] != of.id]
    return shown


def _ladders_to_plot(ladders: Sequence[Ladder]) -> Sequence[Ladder]:
    """Whose histories are drawn: the one of ``?ladder=``, else those with the most games."""
    wanted = request.args.get("ladder")
    if wanted is None:
        return ladders[:HISTORIES]
    chosen = [ladder for ladder in ladders if ladder.id == wanted]
    if not chosen:
        raise invalid([("ladder", "not one on which the bot stands")])
    return chosen


def _move(change: DescribedChange) -> RatingStep:
    told = f"{change.kind}: {change.reason}" if change.reason else change.kind
    version = (change.version or "none") if change.version_changed else None
    return RatingStep(change.before / MICRO, change.after / MICRO, change.kind, version, told)
