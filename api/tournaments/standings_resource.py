"""Standings, crosstable, opponents, luck-adjusted scores and strengths of a tournament over HTTP."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from api.auth import anyone
from api.extended import Extended
from api.ladders.schemas import StrengthsPage
from api.ladders.strengths import attach_ranks
from api.pagination import PageQuery, page_in_memory
from api.tournaments import standings_cache
from api.tournaments.standings_schemas import (
    CrosstablePage,
    LuckPage,
    MeetingsPage,
    OwnStandingView,
    StandingsPage,
)
from api.views import Resource
from referee.errors import NotFound
from referee.standings import LuckAdjusted, RankedEntrant, count_opponents

resource = Resource(
    "standings", "/api/v1/tournaments", "Standings of tournaments, and other figures from their results."
)

Json = dict[str, Any]


@resource.get('/<id("trn"):tournament_id>/standings', anyone, StandingsPage, query=PageQuery, transaction=None)
def show(query: Json, tournament_id: str) -> Any:
    """Get the standings, best first

    Each row has all tie-breaks that decide, and an error bar of the points per match (bootstrap over deal groups). All
    rows of a page count the same results, those up to `as_of_seq`. In a large tournament the newest results may not be
    included yet.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    page = page_in_memory(
        standings_cache.ranked_entrants(kept),
        query,
        lambda rows: standings_cache.attach_error_bars(kept, tournament_id, rows),
    )
    return {**standings_cache.snapshot(kept), "samples": standings_cache.samples_of(kept.made), **page}


@resource.get('/<id("trn"):tournament_id>/standings/<id("bot"):bot_id>', anyone, OwnStandingView, transaction=None)
def show_own(tournament_id: str, bot_id: str) -> Any:
    """Get the row of a bot in the standings"""
    kept = standings_cache.tournament_entry(tournament_id)
    index = standings_cache.row_indexes(kept).get(bot_id)
    if index is None:
        raise NotFound("entry", bot_id)
    table = standings_cache.ranked_entrants(kept)
    (row,) = standings_cache.attach_error_bars(kept, tournament_id, [table[index]])
    return {
        **standings_cache.snapshot(kept),
        "samples": standings_cache.samples_of(kept.made),
        "of": len(table),
        "row": row,
    }


@resource.get('/<id("trn"):tournament_id>/crosstable', anyone, CrosstablePage, query=PageQuery, transaction=None)
def show_crosstable(query: Json, tournament_id: str) -> Any:
    """Get the crosstable: each bot's score against each opponent

    One row per bot, in the order of the standings; opponents it has not played are left out. Seats played by a house
    bot do not count.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    met = standings_cache.results_by_opponent(kept)

    def view(rows: Sequence[RankedEntrant]) -> list[Extended]:
        named = standings_cache.attach_people(tournament_id, rows)
        return [
            Extended(row, rivals=[Extended(against, bot=other) for other, against in met[row.entrant].items()])
            for row in named
        ]

    return {
        **standings_cache.snapshot(kept),
        **page_in_memory(standings_cache.ranked_entrants(kept), query, view),
    }


@resource.get('/<id("trn"):tournament_id>/opponents', anyone, MeetingsPage, query=PageQuery, transaction=None)
def show_meetings(query: Json, tournament_id: str) -> Any:
    """Count the matches of each bot by seat and by opponent, and its byes

    Matches by seat and by opponent, and byes, in the order of the standings.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    made, table = kept.made, standings_cache.ranked_entrants(kept)
    byes = [bot_id for _, bot_id, _ in made.byes]
    met = kept.part("meetings", lambda: count_opponents([row.entrant for row in table], made.outcomes, byes))

    def view(rows: Sequence[RankedEntrant]) -> list[Extended]:
        return [
            Extended(
                row,
                met=met[row.entrant],
                opponents=[{"bot": bot, "matches": often} for bot, often in met[row.entrant].opponents.items()],
            )
            for row in standings_cache.attach_people(tournament_id, rows)
        ]

    return {**standings_cache.snapshot(kept), **page_in_memory(table, query, view)}


@resource.get('/<id("trn"):tournament_id>/luck', anyone, LuckPage, query=PageQuery, transaction=None)
def show_luck(query: Json, tournament_id: str) -> Any:
    """Get the scores adjusted for the luck of the cards

    A bot's score minus the mean score of all bots in the same seat of the same deals, per match, best first. Bots can
    only be compared if deals are shared.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    table, adjusted = standings_cache.ranked_entrants(kept), standings_cache.luck_adjusted_scores(kept)
    ranked = kept.part("by luck", lambda: sorted(table, key=lambda row: _by_luck(adjusted[str(row.entrant)])))

    def view(rows: Sequence[RankedEntrant]) -> list[Extended]:
        named = standings_cache.attach_people(tournament_id, rows)
        return [Extended(row, adjusted=adjusted[str(row.entrant)]) for row in named]

    return {**standings_cache.snapshot(kept), **page_in_memory(ranked, query, view)}


@resource.get('/<id("trn"):tournament_id>/strengths', anyone, StrengthsPage, query=PageQuery, transaction=None)
def show_strengths(query: Json, tournament_id: str) -> Any:
    """Get the estimated strengths of the bots, with confidence intervals

    Maximum-likelihood strengths (Bradley-Terry; Plackett-Luce for more than two seats) with 95 % intervals, from the
    results of this tournament. 409 `too_large` for more than 10,000 results or 1,000 bots.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    fitted = standings_cache.tournament_fit(kept)
    page = page_in_memory(
        fitted.rows,
        query,
        lambda rows: attach_ranks(fitted, rows, standings_cache.load_names(tournament_id, [row.id for row in rows])),
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
