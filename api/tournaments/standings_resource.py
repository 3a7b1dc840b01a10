"""The tables of an event, all from its finished matches: standings, opponents, scores less luck, strengths."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from api import standings_cache
from api.pagination import PageQuery
from api.presentation import Extended
from api.tournaments.standings_schemas import (
    CrosstablePage,
    LuckPage,
    MeetingsPage,
    OwnStandingView,
    StandingsPage,
    StrengthsPage,
)
from api.views import Resource
from referee.errors import NotFound
from referee.standings import LuckAdjusted, RankedEntrant, count_opponents

resource = Resource("standings", "/api/v1/tournaments", "Tables of an event, from its finished matches.")

Json = dict[str, Any]


@resource.route("GET", '/<id("trn"):tournament_id>/standings')
@resource.anyone
@resource.query(PageQuery)
@resource.response(StandingsPage)
def show(query: Json, tournament_id: str) -> Any:
    """The table, best first

    With every tie-break that decides, and an error bar of the points per match (bootstrap over deal groups). All
    lines of a page count the same results, those up to `as_of_seq`; of a large event the table may lag behind some.
    """
    kept = standings_cache.of_event(tournament_id)
    page = standings_cache.page_of(
        standings_cache.table(kept), query, lambda rows: standings_cache.attach_error_bars(kept, tournament_id, rows)
    )
    return {**standings_cache.snapshot(kept), "samples": standings_cache.samples_of(kept.made), **page}


@resource.route("GET", '/<id("trn"):tournament_id>/standings/<id("bot"):bot_id>')
@resource.anyone
@resource.response(OwnStandingView)
def show_own(tournament_id: str, bot_id: str) -> Any:
    """A bot's own line in the table"""
    kept = standings_cache.of_event(tournament_id)
    at = standings_cache.order(kept).get(bot_id)
    if at is None:
        raise NotFound("entry", bot_id)
    table = standings_cache.table(kept)
    (row,) = standings_cache.attach_error_bars(kept, tournament_id, [table[at]])
    return {
        **standings_cache.snapshot(kept),
        "samples": standings_cache.samples_of(kept.made),
        "of": len(table),
        "row": row,
    }


@resource.route("GET", '/<id("trn"):tournament_id>/crosstable')
@resource.anyone
@resource.query(PageQuery)
@resource.response(CrosstablePage)
def show_crosstable(query: Json, tournament_id: str) -> Any:
    """Who scored what against whom

    A row for each bot, in the order of the table; rivals it never met are left out. Seats that a house bot played
    meet nobody.
    """
    kept = standings_cache.of_event(tournament_id)
    met = standings_cache.met(kept)

    def view(rows: Sequence[RankedEntrant]) -> list[Extended]:
        named = standings_cache.attach_people(tournament_id, rows)
        return [
            Extended(row, rivals=[Extended(against, bot=other) for other, against in met[row.entrant].items()])
            for row in named
        ]

    return {**standings_cache.snapshot(kept), **standings_cache.page_of(standings_cache.table(kept), query, view)}


@resource.route("GET", '/<id("trn"):tournament_id>/opponents')
@resource.anyone
@resource.query(PageQuery)
@resource.response(MeetingsPage)
def show_opponents(query: Json, tournament_id: str) -> Any:
    """Where and whom everybody played

    Matches by seat and by opponent, and byes, in the order of the table.
    """
    kept = standings_cache.of_event(tournament_id)
    made, table = kept.made, standings_cache.table(kept)
    rested = [bot_id for _, bot_id, _ in made.byes]
    met = kept.part("meetings", lambda: count_opponents([row.entrant for row in table], made.outcomes, rested))

    def view(rows: Sequence[RankedEntrant]) -> list[Extended]:
        return [
            Extended(
                row,
                met=met[row.entrant],
                opponents=[{"bot": bot, "matches": often} for bot, often in met[row.entrant].opponents.items()],
            )
            for row in standings_cache.attach_people(tournament_id, rows)
        ]

    return {**standings_cache.snapshot(kept), **standings_cache.page_of(table, query, view)}


@resource.route("GET", '/<id("trn"):tournament_id>/luck')
@resource.anyone
@resource.query(PageQuery)
@resource.response(LuckPage)
def show_luck(query: Json, tournament_id: str) -> Any:
    """Scores less the luck of the cards

    A bot's score minus the mean of all that held the same seat in the same deals, a match; the luckless best first.
    Only where deals are shared there is anybody to compare with.
    """
    kept = standings_cache.of_event(tournament_id)
    table, adjusted = standings_cache.table(kept), standings_cache.less_luck(kept)
    ranked = kept.part("by luck", lambda: sorted(table, key=lambda row: _by_luck(adjusted[str(row.entrant)])))

    def view(rows: Sequence[RankedEntrant]) -> list[Extended]:
        named = standings_cache.attach_people(tournament_id, rows)
        return [Extended(row, adjusted=adjusted[str(row.entrant)]) for row in named]

    return {**standings_cache.snapshot(kept), **standings_cache.page_of(ranked, query, view)}


@resource.route("GET", '/<id("trn"):tournament_id>/strengths')
@resource.anyone
@resource.query(PageQuery)
@resource.response(StrengthsPage)
def show_strengths(query: Json, tournament_id: str) -> Any:
    """How strong the bots are by the results of this event, and how sure that is

    The strengths that make its results likeliest (Bradley and Terry; Plackett and Luce), with 95 % intervals. 409
    `too_large` beyond 10,000 results or 1,000 bots.
    """
    kept = standings_cache.of_event(tournament_id)
    fitted = standings_cache.event_fit(kept)
    page = standings_cache.page_of(
        fitted.rows,
        query,
        lambda rows: standings_cache.attach_ranks(
            fitted, rows, standings_cache.names(tournament_id, [row.id for row in rows])
        ),
    )
    return {
        **standings_cache.snapshot(kept),
        "left_out": 0,
        "converged": fitted.converged,
        "exact": fitted.exact,
        **page,
    }


def _by_luck(found: LuckAdjusted | None) -> tuple[bool, Fraction]:
    return found is None, Fraction(0) if found is None else -found.points.value
