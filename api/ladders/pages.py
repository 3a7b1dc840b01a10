"""Serve the pages of ladders: the list by game, and a ladder in any order or as of any ledger entry."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, request

from api.errors import invalid
from api.pages.charts.bars import interval_bar
from api.pages.charts.curves import sparkline
from api.pages.page import Pages, page
from api.pages.paging import cursor_links, cursor_query
from api.pages.parameters import choice, whole_number
from api.pagination import read_cursor
from api.queries import check_names
from api.views import current_session
from referee.ladders import ladder_rows, members, months, ratings, trends
from referee.ladders.ladder_rows import RankedBot
from referee.ladders.tables import Ladder
from referee.matches.deals.ended_openings import OpeningFilter, count_ended_openings
from referee.ratings.elo import MICRO, PROVISIONAL_GAMES

pages = Pages("ladders", __name__)

Json = dict[str, Any]

ROWS_PER_PAGE: Final = 50
LADDERS: Final = 48
MAX_TEXT_LENGTH: Final = 64
LAST_PAGE: Final = 10_000
MONTHS: Final = 6  # closed months listed on the page of a ladder
RECENT_PLACEMENTS: Final = 5  # placements shown in each row, of the bot's last matches
MIN_DOMAIN: Final = 50.0  # least width of the scale of interval bars, in points
DESCENDING: Final = ("rating", "games")  # columns that are sorted highest first


@dataclass(frozen=True, slots=True)
class LeaderboardQuery:
    """Hold the filter, order and page number of a request for a ladder."""

    text: str
    order: str
    backwards: bool
    page: int

    def href(self, **changes: Any) -> str:
        """Return the link to this view with ``changes``. Leave out parameters that have their default values."""
        values = {"find": self.text, "sort": self.order, "reverse": int(self.backwards), "page": self.page} | changes
        defaults = {"find": "", "sort": "rank", "reverse": 0, "page": 1}
        return "?" + urlencode({name: value for name, value in values.items() if value != defaults[name]})


@pages.view("/ladders", "cursor")
def all_ladders() -> Response:
    query = cursor_query(LADDERS)
    found = ratings.list_ladders(current_session(), limit=LADDERS, cursor=read_cursor(query))
    summaries = ladder_rows.load_summaries(current_session(), found.items)
    official = [summary for summary in summaries if summary.ladder.official]
    member_counts = members.count_members(current_session(), [summary.ladder.id for summary in official])
    variants: dict[str, list[ladder_rows.LadderSummary]] = {}
    for summary in summaries[len(official) :]:
        variants.setdefault(summary.ladder.game, []).append(summary)
    return page(
        "ladders/all.html",
        official=official,
        members=member_counts,
        variants=variants,
        **cursor_links(found, query),
    )


@pages.view('/ladders/<id("lad"):ladder_id>', "as_of", "cursor", "find", "page", "reverse", "sort", renews=True)
def ladder(ladder_id: str) -> Response:
    found = ratings.get_ladder(current_session(), ladder_id)
    last = ratings.last_seq(current_session(), ladder_id)
    if "as_of" in request.args:
        check_names(("as_of", "cursor"))
        return _historical_page(found, whole_number("as_of", 0, last), last)
    check_names(("find", "page", "reverse", "sort"))
    return _current_page(found, last)


def _current_page(found: Ladder, last: int) -> Response:
    query = _read_query()
    start = ROWS_PER_PAGE * (query.page - 1)
    rows, total = ladder_rows.find_rows(
        current_session(),
        found.id,
        text=query.text,
        order=query.order,
        backwards=query.backwards,
        start=start,
        limit=ROWS_PER_PAGE,
    )
    return page(
        "ladders/ladder.html",
        ladder=found,
        members=members.count_members(current_session(), [found.id])[found.id],
        rows=_rows(found.id, rows),
        query=query,
        columns={name: _column(name, query) for name in ladder_rows.ORDERS},
        first=start + 1,
        total=total,
        bots=ladder_rows.count_bots(current_session(), found.id),
        closed=months.list_months(current_session(), found.id, limit=MONTHS).items if query.page == 1 else [],
        ended_openings=count_ended_openings(current_session(), OpeningFilter(ladder_id=found.id)),
        as_of=last,
        historical=False,
        before=query.href(page=query.page - 1) if query.page > 1 else None,
        behind=query.href(page=query.page + 1) if start + ROWS_PER_PAGE < total else None,
        recent_placements=RECENT_PLACEMENTS,
    )


@pages.view('/ladders/<id("lad"):ladder_id>/months', "cursor")
def all_months(ladder_id: str) -> Response:
    query = cursor_query(ROWS_PER_PAGE)
    found = months.list_months(current_session(), ladder_id, limit=ROWS_PER_PAGE, cursor=read_cursor(query))
    return page(
        "ladders/months.html",
        ladder=ratings.get_ladder(current_session(), ladder_id),
        closed=found.items,
        **cursor_links(found, query),
    )


@pages.view('/ladders/<id("lad"):ladder_id>/months/<month:month>', "cursor")
def month_standings(ladder_id: str, month: date) -> Response:
    closed = months.get_month(current_session(), ladder_id, month)
    query = cursor_query(ROWS_PER_PAGE)
    found = months.list_rows(current_session(), closed.month, limit=ROWS_PER_PAGE, cursor=read_cursor(query))
    return page(
        "ladders/month.html",
        ladder=closed.ladder,
        closed=closed,
        rows=found.items,
        min_matches=months.MIN_CHAMPION_MATCHES,
        provisional=PROVISIONAL_GAMES,
        **cursor_links(found, query),
    )


def _historical_page(found: Ladder, seq: int, last: int) -> Response:
    """Return the page of the ladder as of ledger entry ``seq``, paged by cursor as in the API."""
    query = cursor_query(ROWS_PER_PAGE, as_of=seq)
    then = ladder_rows.load_rows(current_session(), found.id, as_of=seq, limit=ROWS_PER_PAGE, cursor=read_cursor(query))
    return page(
        "ladders/ladder.html",
        ladder=found,
        rows=_rows(found.id, then.page.items, up_to=seq),
        query=LeaderboardQuery("", "rank", False, 1),
        as_of=seq,
        historical=True,
        last=last,
        at=then.at,
        recent_placements=RECENT_PLACEMENTS,
        **cursor_links(then.page, query),
    )


def _rows(ladder_id: str, rows: Sequence[RankedBot], *, up_to: int | None = None) -> list[Json]:
    recent_trends = trends.load_trends(current_session(), ladder_id, [row.bot_id for row in rows], up_to=up_to)
    domain = _domain([row.interval for row in rows if row.interval])
    return [_row(row, recent_trends.get(row.bot_id), domain, is_past=up_to is not None) for row in rows]


def _row(row: RankedBot, trend: trends.Trend | None, domain: tuple[float, float], *, is_past: bool) -> Json:
    version = row.version if not is_past else trend.version if trend else None
    values = [value / MICRO for value in trend.values] if trend else []
    spark = sparkline(values, "Recent rating") if len(values) > 1 else None
    change = trend.values[-1] - trend.values[-2] if trend else None
    bar = None
    if row.interval:
        low, high = row.interval
        bar = interval_bar(row.value / MICRO, low, high, domain, "95 % interval")
    return {"row": row, "version": version, "trend": trend, "change": change, "spark": spark, "interval": bar}


def _domain(intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return both ends of the common scale of the intervals on a page."""
    low = min((low for low, _ in intervals), default=0.0)
    high = max((high for _, high in intervals), default=0.0)
    margin = max(0.0, MIN_DOMAIN - (high - low)) / 2
    return low - margin, high + margin


def _column(name: str, query: LeaderboardQuery) -> Json:
    """Return a sortable column: the link that sorts by it, and its current order as ``aria-sort``."""
    is_sorted = query.order == name
    backwards = is_sorted and not query.backwards
    descends = (name in DESCENDING) != query.backwards
    aria_sort = ("descending" if descends else "ascending") if is_sorted else ""
    classes = "number" if name in ("rank", *DESCENDING) else ""
    href = query.href(sort=name, reverse=int(backwards), page=1)
    return {"name": name.title(), "href": href, "sorted": aria_sort, "classes": classes}


def _read_query() -> LeaderboardQuery:
    text = request.args.get("find", "").strip()
    if len(text) > MAX_TEXT_LENGTH:
        raise invalid([("find", f"Must have at most {MAX_TEXT_LENGTH} characters.")])
    order = choice("sort", ladder_rows.ORDERS) or "rank"
    return LeaderboardQuery(text, order, request.args.get("reverse", "0") == "1", whole_number("page", 1, LAST_PAGE))
