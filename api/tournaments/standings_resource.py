"""Serve the standings of a tournament over HTTP."""

from typing import Any, Final

from flask import Response

from api.auth import anyone
from api.downloads.sending import attachment
from api.downloads.tables import csv_text
from api.pagination import PageQuery, page_in_memory
from api.tournaments import standings_cache
from api.tournaments.access import TOURNAMENT, get_visible_tournament
from api.tournaments.standings_schemas import OwnStandingView, StandingsPage, StandingsRow
from api.views import Resource
from referee.errors import NotFound
from referee.standings import TIE_BREAKS
from referee.standings.presentation import tie_break

resource = Resource("standings", TOURNAMENT, "Standings of tournaments, and other figures from their results.")

Json = dict[str, Any]
FIRST: Final = ("rank", "bot", "name", "owner", "owner_name", "matches", "byes", "points", "points_exact", "wins")
LAST: Final = ("draws", "losses", "returns", "withdrawn", "disqualification")


@resource.get("/standings", anyone, StandingsPage, query=PageQuery, transaction=None)
def show(query: Json, tournament_id: str) -> Any:
    """Get the standings, best first

    Each row has all tie-breaks that apply, and an error bar of the points per match (bootstrap over deal groups). All
    rows of a page count the same results, up to `as_of_seq`. In a large tournament, the newest results may not be
    included yet.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    page = page_in_memory(
        standings_cache.ranked_entrants(kept),
        query,
        lambda rows: standings_cache.attach_error_bars(kept, tournament_id, rows),
    )
    return {**standings_cache.snapshot(kept), "samples": standings_cache.samples_of(kept.made), **page}


@resource.get('/standings/<id("bot"):bot_id>', anyone, OwnStandingView, transaction=None)
def show_own(tournament_id: str, bot_id: str) -> Any:
    """Get the row of a bot in the standings

    The row is the one that `GET …/standings` has, with the number of all rows. A bot that is not in the standings is a
    404.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    index = standings_cache.row_indexes(kept).get(bot_id)
    if index is None:
        raise NotFound("entry", bot_id)
    ranked, samples = standings_cache.ranked_entrants(kept), standings_cache.samples_of(kept.made)
    (row,) = standings_cache.attach_error_bars(kept, tournament_id, [ranked[index]])
    return {**standings_cache.snapshot(kept), "samples": samples, "total": len(ranked), "row": row}


@resource.get("/standings.csv", anyone)
@resource.file_response("text/csv", "One row per entrant, best first.")
def download_csv(tournament_id: str) -> Response:
    """Download the standings for spreadsheets

    Tie-breaks that are no columns of every table follow `wins`, in the order in which they apply. Texts that a
    spreadsheet could run as formulas begin with an apostrophe.
    """
    tournament = get_visible_tournament(tournament_id)
    kept = standings_cache.tournament_entry(tournament_id)
    ranked = standings_cache.ranked_entrants(kept)
    found = StandingsRow(many=True).dump(standings_cache.attach_error_bars(kept, tournament.id, ranked, computed=False))
    names = [name for name in TIE_BREAKS[tournament.format] if name not in FIRST]
    rows = [
        [*(row[name] for name in FIRST), *(tie_break(row, name) for name in names), *(row[name] for name in LAST)]
        for row in found
    ]
    return attachment("text/csv", f"{tournament_id}-standings.csv", csv_text([*FIRST, *names, *LAST], rows))
