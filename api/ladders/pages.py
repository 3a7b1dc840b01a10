"""Ladders as pages: all of them by game, and one from its top, in any order, or as it stood after any act."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, Response, request
from markupsafe import Markup

from api import standings_cache
from api.errors import invalid
from api.ladders.schemas import LAST_ACT, points
from api.pages.charts import Bin, histogram, interval_bar, sparkline
from api.pages.formatting import count
from api.pages.page import page, page_view
from api.pages.parameters import choice, whole_number
from api.pagination import envelope, read_cursor
from api.queries import check_names, takes
from api.views import record
from referee.db.paging import Page
from referee.ladders import leaderboard, ratings, trends
from referee.ladders.tables import Ladder
from referee.ratings.elo import MICRO
from referee.ratings.strengths import Strength

pages = Blueprint("ladders", __name__)

LINES: Final = 50
LADDERS: Final = 48
LONGEST_TEXT: Final = 64
LAST_PAGE: Final = 10_000
PLACED: Final = 5  # of the last matches
QUICK_BOTS: Final = 100  # up to here, and QUICK_RESULTS, a fit takes a fifth of a second and is worth a page
QUICK_RESULTS: Final = 2_000
BAND_POINTS: Final = 50
FEWEST_BANDS: Final = 3
LEAST_DOMAIN: Final = 50.0  # points that an interval bar spans at least
FALLING: Final = ("rating", "games")  # columns that begin with the most


@dataclass(frozen=True, slots=True)
class LeaderboardQuery:
    """How somebody wants to see a ladder."""

    text: str
    order: str
    backwards: bool
    page: int

    def href(self, **changes: Any) -> str:
        """The address of this view with some things changed; what is as usual is left out."""
        said = {"find": self.text, "sort": self.order, "reverse": int(self.backwards), "page": self.page} | changes
        usual = {"find": "", "sort": "rank", "reverse": 0, "page": 1}
        return "?" + urlencode({name: value for name, value in said.items() if value != usual[name]})


@dataclass(frozen=True, slots=True)
class Column:
    """A column that can be sorted by: the link that does it, and how it is sorted now."""

    name: str
    href: str
    sorted: str  # of aria-sort, or ""
    classes: str


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """A bot on the page of a ladder."""

    line: Any  # a ``leaderboard.LeaderboardRow`` or a ``ratings.LadderStanding``
    version: str | None
    trend: trends.Trend | None
    spark: Markup | None
    interval: Markup | None
    strength: Strength | None


@pages.get("/ladders")
@takes("page")
@page_view
def all_ladders() -> Response:
    number = whole_number("page", 1, LAST_PAGE)
    found = leaderboard.ladders_by_game(record(), start=LADDERS * (number - 1), limit=LADDERS + 1)
    by_game: dict[str, list[leaderboard.LadderSummary]] = {}
    for summary in leaderboard.summaries(record(), found[:LADDERS]):
        by_game.setdefault(summary.ladder.game, []).append(summary)
    before = f"?page={number - 1}" if number > 1 else None
    behind = f"?page={number + 1}" if len(found) > LADDERS else None
    return page("ladders/all.html", by_game=by_game, points=points, before=before, behind=behind)


@pages.get('/ladders/<id("lad"):ladder_id>')
@takes("as_of", "cursor", "find", "page", "reverse", "sort")
@page_view
def ladder(ladder_id: str) -> Response:
    found = ratings.get_ladder(record(), ladder_id)
    last = ratings.last_seq(record(), ladder_id)
    if "as_of" in request.args:
        check_names(("as_of", "cursor"))
        return _as_it_stood(found, whole_number("as_of", 0, min(LAST_ACT, last)), last)
    check_names(("find", "page", "reverse", "sort"))
    return _as_it_stands(found, last)


def _as_it_stands(found: Ladder, last: int) -> Response:
    wanted = _read_query()
    start = LINES * (wanted.page - 1)
    looked = leaderboard.board(
        record(), found.id, text=wanted.text, order=wanted.order, backwards=wanted.backwards, start=start, limit=LINES
    )
    fitted = fit_at_hand(found.id)
    rows = _rows(found.id, looked.lines, strengths=fitted)
    return page(
        "ladders/ladder.html",
        ladder=found,
        rows=rows,
        wanted=wanted,
        columns={name: _column(name, wanted) for name in leaderboard.ORDERS},
        first=start + 1,
        total=looked.found,
        bots=leaderboard.bots_on(record(), found.id),
        spread=_spread(found.id) if wanted.page == 1 and not wanted.text else None,
        fitted=fitted,
        as_of=last,
        then=False,
        before=wanted.href(page=wanted.page - 1) if wanted.page > 1 else None,
        behind=wanted.href(page=wanted.page + 1) if start + LINES < looked.found else None,
        points=points,
        placed=PLACED,
    )


def _as_it_stood(found: Ladder, seq: int, last: int) -> Response:
    """From its top as of an act: pages by cursor, as the API has them."""
    query = {"as_of": seq, "limit": LINES, "cursor": request.args.get("cursor")}
    standing = ratings.ladder_at(record(), found.id, seq, limit=LINES, cursor=read_cursor(query))
    following = envelope(Page([], standing.page.next), query)["next"]
    return page(
        "ladders/ladder.html",
        ladder=found,
        rows=_rows(found.id, standing.page.items, up_to=seq),
        wanted=LeaderboardQuery("", "rank", False, 1),
        as_of=seq,
        then=True,
        last=last,
        at=leaderboard.moment_of(record(), found.id, seq),
        before=f"?as_of={seq}" if query["cursor"] else None,
        behind=f"?{urlencode({'as_of': seq, 'cursor': following})}" if following else None,
        points=points,
        placed=PLACED,
    )


def fit_at_hand(ladder_id: str) -> dict[str, Strength] | None:
    """The strengths of the ladder's bots where they take no time: kept from before, or quickly made."""
    bots = leaderboard.bots_on(record(), ladder_id)
    quick = bots <= QUICK_BOTS and leaderboard.results(record(), ladder_id) <= QUICK_RESULTS
    fitted = (
        standings_cache.ladder_fit(standings_cache.of_ladder(ladder_id))
        if quick
        else standings_cache.kept_fit(ladder_id)
    )
    return None if fitted is None else {strength.id: strength for strength in fitted.rows}


def _rows(
    ladder_id: str,
    lines: Sequence[Any],
    *,
    strengths: Mapping[str, Strength] | None = None,
    up_to: int | None = None,
) -> list[LeaderboardEntry]:
    lately = trends.trends(record(), ladder_id, [line.bot_id for line in lines], up_to=up_to)
    known = [strength for line in lines if (strength := (strengths or {}).get(line.bot_id)) is not None]
    domain, by_bot = _domain(known), {strength.id: strength for strength in known}
    return [_row(line, lately.get(line.bot_id), by_bot.get(line.bot_id), domain) for line in lines]


def _row(
    line: Any, trend: trends.Trend | None, strength: Strength | None, domain: tuple[float, float]
) -> LeaderboardEntry:
    version = line.version if isinstance(line, leaderboard.LeaderboardRow) else trend.version if trend else None
    values = [value / MICRO for value in trend.values] if trend else []
    spark = sparkline(values, "Rating lately") if len(values) > 1 else None
    bar = None
    if strength is not None:
        bar = interval_bar(strength.points, strength.low, strength.high, domain, "95 % interval")
    return LeaderboardEntry(line, version, trend, spark, bar, strength)


def _domain(strengths: Sequence[Strength]) -> tuple[float, float]:
    """The scale that the interval bars of a page share."""
    low = min((strength.low for strength in strengths), default=0.0)
    high = max((strength.high for strength in strengths), default=0.0)
    rest = max(0.0, LEAST_DOMAIN - (high - low)) / 2
    return low - rest, high + rest


def _spread(ladder_id: str) -> tuple[Markup, list[tuple[str, int]]] | None:
    """How many bots there are of each strength, drawn and in figures; None where that tells nothing."""
    numbers = leaderboard.spread(record(), ladder_id, BAND_POINTS)
    if len(numbers) < FEWEST_BANDS:
        return None
    bins = [Bin(count(low), bots) for low, bots in numbers.items()]
    figures = [(f"{count(low)} to {count(low + BAND_POINTS)}", bots) for low, bots in numbers.items()]
    return histogram(bins, "Bots by rating", count(max(numbers) + BAND_POINTS)), figures


def _column(name: str, wanted: LeaderboardQuery) -> Column:
    by_now = wanted.order == name
    backwards = by_now and not wanted.backwards
    falls = (name in FALLING) != wanted.backwards
    said = ("descending" if falls else "ascending") if by_now else ""
    classes = "number" if name in ("rank", *FALLING) else ""
    return Column(name.title(), wanted.href(sort=name, reverse=int(backwards), page=1), said, classes)


def _read_query() -> LeaderboardQuery:
    text = request.args.get("find", "").strip()
    if len(text) > LONGEST_TEXT:
        raise invalid([("find", f"at most {LONGEST_TEXT} characters")])
    order = choice("sort", leaderboard.ORDERS) or "rank"
    return LeaderboardQuery(text, order, request.args.get("reverse", "0") == "1", whole_number("page", 1, LAST_PAGE))
