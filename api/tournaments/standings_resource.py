"""The tables of an event, all from its finished matches: standings, meetings, scores less luck, strengths."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from api import standings_cache
from api.caching import Kept
from api.pagination import PageQuery
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
from referee.ratings.strengths import Fit, Strength
from referee.standings import Adjusted, ErrorBar, Mean, Met, Row, crosstable, luck_adjusted, meetings
from referee.tournaments.standings import EventResults

resource = Resource("standings", "/api/v1/tournaments", "Tables of an event, from its finished matches.")

Json = dict[str, Any]

NO_BAR: Final = ErrorBar(None, None, None, 0)


@resource.on("GET", '/<id("trn"):tournament_id>/standings')
@resource.anyone
@resource.asks(PageQuery)
@resource.gives(StandingsPage)
def show(query: Json, tournament_id: str) -> Any:
    """The table, best first

    With every tie-break that decides, and an error bar of the points per match (bootstrap over deal groups). All
    lines of a page count the same results, those up to `as_of_seq`; of a large event the table may lag behind some.
    """
    kept = standings_cache.of_event(tournament_id)
    page = standings_cache.page_of(standings_cache.table(kept), query, lambda rows: lines(kept, tournament_id, rows))
    return {**snapshot(kept), "samples": standings_cache.samples_of(kept.made), **page}


@resource.on("GET", '/<id("trn"):tournament_id>/standings/<id("bot"):bot_id>')
@resource.anyone
@resource.gives(OwnStandingView)
def show_own(tournament_id: str, bot_id: str) -> Any:
    """A bot's own line in the table"""
    kept = standings_cache.of_event(tournament_id)
    at = standings_cache.order(kept).get(bot_id)
    if at is None:
        raise NotFound("entry", bot_id)
    table = standings_cache.table(kept)
    (row,) = lines(kept, tournament_id, [table[at]])
    return {**snapshot(kept), "samples": standings_cache.samples_of(kept.made), "of": len(table), "row": row}


@resource.on("GET", '/<id("trn"):tournament_id>/crosstable')
@resource.anyone
@resource.asks(PageQuery)
@resource.gives(CrosstablePage)
def show_crosstable(query: Json, tournament_id: str) -> Any:
    """Who scored what against whom

    A row for each bot, in the order of the table; rivals it never met are left out. Seats that a house bot played
    meet nobody.
    """
    kept = standings_cache.of_event(tournament_id)
    made, table = kept.made, standings_cache.table(kept)
    met = kept.part("crosstable", lambda: crosstable([row.entrant for row in table], made.outcomes))

    def view(rows: Sequence[Row]) -> list[Json]:
        return [
            {**named, "rivals": [rival(other, against) for other, against in met[row.entrant].items()]}
            for row, named in zip(rows, entrants(tournament_id, rows), strict=True)
        ]

    return {**snapshot(kept), **standings_cache.page_of(table, query, view)}


@resource.on("GET", '/<id("trn"):tournament_id>/meetings')
@resource.anyone
@resource.asks(PageQuery)
@resource.gives(MeetingsPage)
def show_meetings(query: Json, tournament_id: str) -> Any:
    """Where and whom everybody played

    Matches by seat and by opponent, and byes, in the order of the table.
    """
    kept = standings_cache.of_event(tournament_id)
    made, table = kept.made, standings_cache.table(kept)
    rested = [bot_id for _, bot_id, _ in made.byes]
    met = kept.part("meetings", lambda: meetings([row.entrant for row in table], made.outcomes, rested))

    def view(rows: Sequence[Row]) -> list[Json]:
        return [
            {
                **named,
                "seats": met[row.entrant].seats,
                "opponents": [{"bot": bot, "matches": often} for bot, often in met[row.entrant].opponents.items()],
                "byes": met[row.entrant].byes,
            }
            for row, named in zip(rows, entrants(tournament_id, rows), strict=True)
        ]

    return {**snapshot(kept), **standings_cache.page_of(table, query, view)}


@resource.on("GET", '/<id("trn"):tournament_id>/luck')
@resource.anyone
@resource.asks(PageQuery)
@resource.gives(LuckPage)
def show_luck(query: Json, tournament_id: str) -> Any:
    """Scores less the luck of the cards

    A bot's score minus the mean of all that held the same seat in the same deals, a match; the luckless best first.
    Only where deals are shared there is anybody to compare with.
    """
    kept = standings_cache.of_event(tournament_id)
    made, table = kept.made, standings_cache.table(kept)
    adjusted = kept.part("luck", lambda: luck_adjusted(made.entrants, made.outcomes))
    ranked = kept.part("by luck", lambda: sorted(table, key=lambda row: _by_luck(adjusted[str(row.entrant)])))

    def view(rows: Sequence[Row]) -> list[Json]:
        named = entrants(tournament_id, rows)
        return [{**one, **less_luck(adjusted[str(row.entrant)])} for row, one in zip(rows, named, strict=True)]

    return {**snapshot(kept), **standings_cache.page_of(ranked, query, view)}


@resource.on("GET", '/<id("trn"):tournament_id>/strengths')
@resource.anyone
@resource.asks(PageQuery)
@resource.gives(StrengthsPage)
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
        lambda rows: strengths(fitted, rows, people_names(tournament_id, [row.id for row in rows])),
    )
    return {**snapshot(kept), "left_out": 0, "converged": fitted.converged, "exact": fitted.exact, **page}


def snapshot(kept: Kept[EventResults]) -> Json:
    return {"as_of_seq": kept.made.as_of_seq, "results": len(kept.made.outcomes)}


def lines(kept: Kept[EventResults], tournament_id: str, rows: Sequence[Row], *, with_bars: bool = True) -> list[Json]:
    """Lines of the table as they are shown; without error bars, which are dear, for those who are told often."""
    bars = standings_cache.error_bars(kept) if with_bars else dict.fromkeys((row.entrant for row in rows), NO_BAR)
    people = standings_cache.people(tournament_id, [str(row.entrant) for row in rows])
    shown = []
    for row in rows:
        person, bar = people[str(row.entrant)], bars[row.entrant]
        shown.append(
            {
                "place": row.place,
                "bot": row.entrant,
                "name": person.name,
                "owner": person.owner,
                "withdrawn": person.withdrawn,
                "version_changed": person.version_changed,
                "matches": row.matches,
                "byes": row.byes,
                "points": float(row.points),
                "points_exact": str(row.points),
                "points_per_match": None if bar.points_per_match is None else float(bar.points_per_match),
                "error_bar": {"low": bar.low, "high": bar.high, "groups": bar.groups},
                "wins": row.wins,
                "returns": row.returns,
                "tie_breaks": [tie_break(name, value) for name, value in row.tie_breaks.items()],
            }
        )
    return shown


def tie_break(name: str, value: Fraction | None) -> Json:
    if value is None:
        return {"name": name, "value": None, "exact": None}
    return {"name": name, "value": float(value), "exact": str(value)}


def entrants(tournament_id: str, rows: Sequence[Row]) -> list[Json]:
    names = people_names(tournament_id, [str(row.entrant) for row in rows])
    return [{"place": row.place, "bot": row.entrant, "name": names[str(row.entrant)]} for row in rows]


def people_names(tournament_id: str, bot_ids: Sequence[str]) -> dict[str, str]:
    return {bot_id: person.name for bot_id, person in standings_cache.people(tournament_id, bot_ids).items()}


def rival(bot_id: object, met: Met) -> Json:
    return {"bot": bot_id, "matches": met.matches, "points": float(met.points), "lead": met.lead}


def less_luck(found: Adjusted | None) -> Json:
    if found is None:
        return {"points": None, "returns": None, "matches": 0, "groups": 0}
    return {
        "points": mean(found.points),
        "returns": mean(found.returns),
        "matches": found.matches,
        "groups": found.groups,
    }


def mean(found: Mean) -> Json:
    return {"value": float(found.value), "exact": str(found.value), "error": found.error}


def strengths(fitted: Fit, rows: Sequence[Strength], names: Mapping[str, str]) -> list[Json]:
    """Lines of a fit; ``rows`` are some of it in a row."""
    first = fitted.rows.index(rows[0]) if rows else 0
    return [
        {
            "rank": first + 1 + at,
            "bot": row.id,
            "name": names[row.id],
            "points": round(row.points, 2),
            "low": round(row.low, 2),
            "high": round(row.high, 2),
            "se": round(row.se, 2),
            "matches": row.matches,
            "superior_to_next": row.superior_to_next,
            "best_rank": row.best_rank,
            "worst_rank": row.worst_rank,
        }
        for at, row in enumerate(rows)
    ]


def _by_luck(found: Adjusted | None) -> tuple[bool, Fraction]:
    return found is None, Fraction(0) if found is None else -found.points.value
